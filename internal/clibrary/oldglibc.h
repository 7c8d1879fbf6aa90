/* oldglibc.h: since glibc 2.32 these functions have a second version, in libc instead of
 * libpthread, which is otherwise the same. C files compiled with this header use the first
 * version, which every glibc has. It is for amd64: other processors began with other
 * versions. Assembly files are compiled with it too and must not see it. */
#ifndef __ASSEMBLER__
__asm__(".symver pthread_create, pthread_create@GLIBC_2.2.5");
__asm__(".symver pthread_attr_getstack, pthread_attr_getstack@GLIBC_2.2.5");
__asm__(".symver pthread_attr_getstacksize, pthread_attr_getstacksize@GLIBC_2.2.5");
__asm__(".symver pthread_getattr_np, pthread_getattr_np@GLIBC_2.2.5");
__asm__(".symver pthread_sigmask, pthread_sigmask@GLIBC_2.2.5");
__asm__(".symver pthread_key_create, pthread_key_create@GLIBC_2.2.5");
__asm__(".symver pthread_getspecific, pthread_getspecific@GLIBC_2.2.5");
__asm__(".symver pthread_setspecific, pthread_setspecific@GLIBC_2.2.5");
#endif
