/*
 * A disk whose sync takes longer: LD_PRELOAD=slow-sync.so SYNC_MICROS=2000 program. The system syncs as ever, and the call
 * returns when the given time has passed. Syncs wait for each other, as on one disk.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

typedef int sync_call(int);

static pthread_mutex_t disk = PTHREAD_MUTEX_INITIALIZER;

static int slowly(const char *name, int file) {
  const char *micros = getenv("SYNC_MICROS");
  struct timespec until;
  pthread_mutex_lock(&disk);
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_nsec += (micros == NULL ? 0 : atol(micros)) * 1000;
  until.tv_sec += until.tv_nsec / 1000000000;
  until.tv_nsec %= 1000000000;
  int result = ((sync_call *)dlsym(RTLD_NEXT, name))(file);
  int error = errno;
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR) {
  }
  pthread_mutex_unlock(&disk);
  errno = error;
  return result;
}

int fsync(int file) { return slowly("fsync", file); }
int fdatasync(int file) { return slowly("fdatasync", file); }
