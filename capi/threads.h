/* threads.h: threads of the library begin with its floating-point mode (mode.h). The build includes this header in
 * every C file, including those of the Go runtime, which create the threads: one when the library is loaded, others
 * at any time. The thread that loads or calls the library may have any mode. Assembly files are compiled with it
 * too and must not see it. */
#ifndef PM_THREADS_H
#define PM_THREADS_H
#ifndef __ASSEMBLER__

#ifndef _GNU_SOURCE /* files that need it define it after this header */
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
