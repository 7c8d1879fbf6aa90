/* shim_model.c: models. */
#include "_cgo_export.h"
#include "shim.h"

pm_status pm_fit(pm_engine *engine, const pm_rows *x, const int32_t *labels, const pm_fit_settings *settings,
                 pm_model **model, pm_call *call) {
    uintptr_t id = 0;
    PMC_ENTER();
    PMC_RETURN_HANDLE(pm_model,
                      pmgo_fit(PMC_ID(engine), (pm_rows *)x, pmc_array(labels), (pm_fit_settings *)settings, model == NULL ? NULL : &id, PMC_CALLER(call)),
                      id, model);
}

pm_status pm_model_open(const char *path, pm_model **model) {
    uintptr_t id = 0;
    PMC_ENTER();
    PMC_RETURN_HANDLE(pm_model, pmgo_model_open((char *)path, model == NULL ? NULL : &id), id, model);
}

pm_status pm_model_save(pm_model *model, const char *path, pm_call *call) {
    PMC_ENTER();
    return pmgo_model_save(PMC_ID(model), (char *)path, PMC_CALLER(call));
}

pm_status pm_model_write(pm_model *model, void *buffer, size_t size, size_t *needed) {
    PMC_ENTER();
    return pmgo_model_write(PMC_ID(model), pmc_array(buffer), size, needed);
}

pm_status pm_model_read(const void *bytes, size_t size, pm_model **model) {
    uintptr_t id = 0;
    PMC_ENTER();
    PMC_RETURN_HANDLE(pm_model, pmgo_model_read(pmc_array(bytes), size, model == NULL ? NULL : &id), id, model);
}

pm_status pm_model_size(pm_model *model, int64_t *rows, int64_t *input, int64_t *output) {
    PMC_ENTER();
    return pmgo_model_size(PMC_ID(model), rows, input, output);
}

pm_status pm_model_rows(pm_model *model, const pm_matrix *out) {
    PMC_ENTER();
    return pmgo_model_rows(PMC_ID(model), (pm_matrix *)out);
}

pm_status pm_model_apply(pm_engine *engine, pm_model *model, const pm_rows *x, const pm_matrix *out, pm_call *call) {
    PMC_ENTER();
    return pmgo_model_apply(PMC_ID(engine), PMC_ID(model), (pm_rows *)x, (pm_matrix *)out, PMC_CALLER(call));
}

pm_status pm_model_classes(pm_model *model, int32_t *labels, size_t room, size_t *count) {
    PMC_ENTER();
    return pmgo_model_classes(PMC_ID(model), pmc_array(labels), room, count);
}

pm_status pm_model_class_name(pm_model *model, int32_t label, char *buffer, size_t size, size_t *needed) {
    PMC_ENTER();
    return pmgo_model_class_name(PMC_ID(model), label, pmc_array(buffer), size, needed);
}

pm_status pm_model_predict(pm_engine *engine, pm_model *model, const pm_rows *x, int64_t voters, int32_t *labels, float *shares,
                           const pm_matrix *votes, pm_call *call) {
    PMC_ENTER();
    return pmgo_model_predict(PMC_ID(engine), PMC_ID(model), (pm_rows *)x, voters, pmc_array(labels), pmc_array(shares), (pm_matrix *)votes,
                              PMC_CALLER(call));
}

pm_status pm_model_describe(pm_model *model, char *buffer, size_t size, size_t *needed) {
    PMC_ENTER();
    return pmgo_model_describe(PMC_ID(model), pmc_array(buffer), size, needed);
}

pm_status pm_model_free(pm_model *model) {
    PMC_ENTER_FREE();
    return pmgo_model_free(PMC_ID(model));
}
