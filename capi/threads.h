/* threads.h: threads of the library begin with its floating-point mode (mode.h). The build gives this
 * header to every C file, those of the Go runtime too, which make the threads: one when the library is
 * loaded, others at any time. Who loads the library, or calls it, may have any mode. Files of assembly
 * are compiled with it, too, and must see nothing. */
#ifndef PM_THREADS_H
#define PM_THREADS_H
#ifndef __ASSEMBLER__

#ifndef _GNU_SOURCE /* as files that want it define it after this header */
#define _GNU_SOURCE
#endif
#include <pthread.h>

#include "mode.h"

__attribute__((unused)) static int pmc_create_thread(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument) {
    pmc_mode before = pmc_begin_mode();
    int failed = pthread_create(thread, attributes, run, argument);
    pmc_set_mode(before);
    return failed;
}
#define pthread_create pmc_create_thread

#endif
#endif
