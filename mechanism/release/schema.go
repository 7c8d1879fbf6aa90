package release

// A field is one field of a release: its name in the JSON form, with the name
// of its group before a dot, and a pointer to its value.
type field struct {
	name  string
	value any // *[16]byte, *string, *int, *int64, *uint64, *float64, *[]int32 or *[]int64
}

// fields lists every field once, for both forms. The JSON form has them in this
// order. The binary form has first the fields of fixed size, then the strings,
// then the slices, each in this order.
func (r *Release) fields() []field {
	return []field{
		{"id", &r.ID},
		{"mechanism", &r.Mechanism},
		{"rows", &r.Rows},
		{"columns", &r.Columns},
		{"step", &r.Step},
		{"multiple", &r.Multiple},
		{"privacy.epsilon", &r.Privacy.Epsilon},
		{"privacy.delta", &r.Privacy.Delta},
		{"privacy.rule", &r.Privacy.Rule},
		{"privacy.sigma", &r.Privacy.Sigma},
		{"privacy.mu", &r.Privacy.Mu},
		{"privacy.rho", &r.Privacy.Rho},
		{"sensitivity.total", &r.Sensitivity.Total},
		{"sensitivity.bound", &r.Sensitivity.Bound},
		{"sensitivity.operator_error", &r.Sensitivity.OperatorError},
		{"sensitivity.grid_error", &r.Sensitivity.GridError},
		{"sensitivity.norm", &r.Sensitivity.Norm},
		{"sensitivity.derivation", &r.Sensitivity.Derivation},
		{"sensitivity.relation", &r.Sensitivity.Relation},
		{"sensitivity.operator", &r.Sensitivity.Operator},
		{"sensitivity.private", &r.Sensitivity.Private},
		{"sensitivity.private_rows", &r.Sensitivity.PrivateRows},
		{"sensitivity.records", &r.Sensitivity.Records},
		{"query.sigma", &r.Query.Sigma},
		{"query.alpha", &r.Query.Alpha},
		{"query.radius", &r.Query.Radius},
		{"query.background", &r.Query.Background},
		{"query.table", &r.Query.Table},
		{"query.classes", &r.Query.Classes},
		{"query.sigma_q", &r.Query.SigmaQ},
		{"query.seed", &r.Query.Seed},
		{"labels.mode", &r.Labels.Mode},
		{"labels.epsilon", &r.Labels.Epsilon},
		{"labels.values", &r.Labels.Values},
		{"unit", &r.Unit},
		{"ledger", &r.Ledger},
		{"grid", &r.Grid},
	}
}
