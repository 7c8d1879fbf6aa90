/* shim_graph.c: neighbours, graphs, products with the full kernel. */
#include "_cgo_export.h"
#include "shim.h"

pm_status pm_nearest(pm_engine *engine, const pm_rows *x, const pm_rows *queries, int64_t k,
                     int32_t index_bytes, void *ids, float *distances, pm_call *call) {
    PMC_ENTER();
    return pmgo_nearest(PMC_ID(engine), (pm_rows *)x, (pm_rows *)queries, k, index_bytes, pmc_array(ids), pmc_array(distances), PMC_CALLER(call));
}

pm_status pm_extend(pm_engine *engine, const pm_rows *x, const pm_rows *embedding, const pm_rows *queries, int64_t k,
                    const pm_matrix *out, pm_call *call) {
    PMC_ENTER();
    return pmgo_extend(PMC_ID(engine), (pm_rows *)x, (pm_rows *)embedding, (pm_rows *)queries, k, (pm_matrix *)out, PMC_CALLER(call));
}

pm_status pm_graph_new(pm_engine *engine, const pm_rows *x, const pm_settings *settings, pm_graph **graph, pm_call *call) {
    uintptr_t id = 0;
    PMC_ENTER();
    PMC_RETURN_HANDLE(pm_graph, pmgo_graph_new(PMC_ID(engine), (pm_rows *)x, (pm_settings *)settings, graph == NULL ? NULL : &id, PMC_CALLER(call)),
                      id, graph);
}

pm_status pm_graph_between(pm_engine *engine, const pm_rows *x, const pm_rows *queries, const pm_settings *settings,
                           pm_graph **graph, pm_call *call) {
    uintptr_t id = 0;
    PMC_ENTER();
    PMC_RETURN_HANDLE(pm_graph, pmgo_graph_between(PMC_ID(engine), (pm_rows *)x, (pm_rows *)queries, (pm_settings *)settings,
                                                   graph == NULL ? NULL : &id, PMC_CALLER(call)),
                      id, graph);
}

pm_status pm_graph_size(pm_graph *graph, int64_t *rows, int64_t *nonzeros) {
    PMC_ENTER();
    return pmgo_graph_size(PMC_ID(graph), rows, nonzeros);
}

pm_status pm_graph_copy(pm_graph *graph, int32_t index_bytes, void *indptr, void *indices, float *weights) {
    PMC_ENTER();
    return pmgo_graph_copy(PMC_ID(graph), index_bytes, pmc_array(indptr), pmc_array(indices), pmc_array(weights));
}

pm_status pm_graph_distances(pm_engine *engine, pm_graph *graph, const pm_rows *x, float *distances, pm_call *call) {
    PMC_ENTER();
    return pmgo_graph_distances(PMC_ID(engine), PMC_ID(graph), (pm_rows *)x, pmc_array(distances), PMC_CALLER(call));
}

pm_status pm_graph_free(pm_graph *graph) {
    PMC_ENTER_FREE();
    return pmgo_graph_free(PMC_ID(graph));
}

pm_status pm_operator_new(pm_engine *engine, const pm_rows *x, const pm_settings *settings, pm_operator **op, pm_call *call) {
    uintptr_t id = 0;
    PMC_ENTER();
    PMC_RETURN_HANDLE(pm_operator, pmgo_operator_new(PMC_ID(engine), (pm_rows *)x, (pm_settings *)settings, op == NULL ? NULL : &id, PMC_CALLER(call)),
                      id, op);
}

pm_status pm_operator_apply(pm_operator *op, const pm_rows *v, const pm_matrix *out, pm_call *call) {
    PMC_ENTER();
    return pmgo_operator_apply(PMC_ID(op), (pm_rows *)v, (pm_matrix *)out, PMC_CALLER(call));
}

pm_status pm_operator_free(pm_operator *op) {
    PMC_ENTER_FREE();
    return pmgo_operator_free(PMC_ID(op));
}
