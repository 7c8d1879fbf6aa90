/* shim_embed.c: embeddings and plans. */
#include "_cgo_export.h"
#include "shim.h"

pm_status pm_plan(pm_engine *engine, const pm_rows *x, const pm_settings *settings, int32_t map, pm_call *call) {
    PMC_ENTER();
    return pmgo_plan(PMC_ID(engine), (pm_rows *)x, (pm_settings *)settings, map, PMC_CALLER(call));
}

pm_status pm_embed(pm_engine *engine, const pm_rows *x, const int32_t *labels, const pm_settings *settings,
                   const pm_matrix *out, pm_call *call) {
    PMC_ENTER();
    return pmgo_embed(PMC_ID(engine), (pm_rows *)x, pmc_array(labels), (pm_settings *)settings, (pm_matrix *)out, PMC_CALLER(call));
}

pm_status pm_converge(pm_engine *engine, const pm_rows *x, const int32_t *labels, const pm_settings *settings,
                      const pm_matrix *out, pm_call *call) {
    PMC_ENTER();
    return pmgo_converge(PMC_ID(engine), (pm_rows *)x, pmc_array(labels), (pm_settings *)settings, (pm_matrix *)out, PMC_CALLER(call));
}

pm_status pm_map(pm_engine *engine, const pm_rows *x, const pm_settings *settings, const pm_matrix *out, pm_call *call) {
    PMC_ENTER();
    return pmgo_map(PMC_ID(engine), (pm_rows *)x, (pm_settings *)settings, (pm_matrix *)out, PMC_CALLER(call));
}
