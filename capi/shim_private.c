/* shim_private.c: private first steps, releases, ledgers. */
#include "_cgo_export.h"
#include "shim.h"

pm_status pm_sensitivity(int64_t n, int64_t d, const pm_private_settings *settings, pm_call *call) {
    PMC_ENTER();
    return pmgo_sensitivity(n, d, (pm_private_settings *)settings, PMC_CALLER(call));
}

pm_status pm_privatize(pm_engine *engine, const pm_rows *x, const int32_t *labels, const pm_private_settings *settings,
                       pm_ledger *ledger, pm_release **release, pm_call *call) {
    uintptr_t id = 0;
    pm_status status;
    PMC_ENTER();
    status = pmgo_privatize(PMC_ID(engine), (pm_rows *)x, pmc_array(labels), (pm_private_settings *)settings, PMC_ID(ledger),
                            release == NULL ? NULL : &id, PMC_CALLER(call));
    if (id != 0) *release = (pm_release *)id; /* a release that was paid for is not lost, for any status */
    return status;
}

pm_status pm_continue(pm_engine *engine, pm_release *release, const int32_t *public_labels, const pm_settings *settings,
                      int32_t use_coefficient, const pm_matrix *out, pm_call *call) {
    PMC_ENTER();
    return pmgo_continue(PMC_ID(engine), PMC_ID(release), pmc_array(public_labels), (pm_settings *)settings, use_coefficient,
                         (pm_matrix *)out, PMC_CALLER(call));
}

pm_status pm_release_write(pm_release *release, void *buffer, size_t size, size_t *needed) {
    PMC_ENTER();
    return pmgo_release_write(PMC_ID(release), pmc_array(buffer), size, needed);
}

pm_status pm_release_read(const void *bytes, size_t size, pm_release **release) {
    uintptr_t id = 0;
    PMC_ENTER();
    PMC_RETURN_HANDLE(pm_release, pmgo_release_read(pmc_array(bytes), size, release == NULL ? NULL : &id), id, release);
}

pm_status pm_release_size(pm_release *release, int64_t *rows, int64_t *columns) {
    PMC_ENTER();
    return pmgo_release_size(PMC_ID(release), rows, columns);
}

pm_status pm_release_points(pm_release *release, double *points) {
    PMC_ENTER();
    return pmgo_release_points(PMC_ID(release), pmc_array(points));
}

pm_status pm_release_describe(pm_release *release, char *buffer, size_t size, size_t *needed) {
    PMC_ENTER();
    return pmgo_release_describe(PMC_ID(release), pmc_array(buffer), size, needed);
}

pm_status pm_release_free(pm_release *release) {
    PMC_ENTER_FREE();
    return pmgo_release_free(PMC_ID(release));
}

pm_status pm_ledger_create(const char *path, const pm_total *total) {
    PMC_ENTER();
    return pmgo_ledger_create((char *)path, (pm_total *)total);
}

pm_status pm_ledger_open(const char *path, const char *head, pm_ledger **ledger) {
    uintptr_t id = 0;
    PMC_ENTER();
    PMC_RETURN_HANDLE(pm_ledger, pmgo_ledger_open((char *)path, (char *)head, ledger == NULL ? NULL : &id), id, ledger);
}

pm_status pm_ledger_describe(pm_ledger *ledger, const char *unit, const char *unit_kind, char *buffer, size_t size, size_t *needed) {
    PMC_ENTER();
    return pmgo_ledger_describe(PMC_ID(ledger), (char *)unit, (char *)unit_kind, pmc_array(buffer), size, needed);
}

pm_status pm_ledger_free(pm_ledger *ledger) {
    PMC_ENTER_FREE();
    return pmgo_ledger_free(PMC_ID(ledger));
}
