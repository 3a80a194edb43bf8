// The peer of the bench: libvirt's own client. Reads "CALL COUNT THREADS" lines, makes that many calls from so many threads, all on one
// connection, and answers with a line: median and total, both in microseconds. Each thread has one call under way at a time.
#include <libvirt/libvirt.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_THREADS 64

static virConnectPtr conn;
static virDomainPtr *domains;
static int ndomains;

static char name[16];
static int count;
static double *took;
static atomic_int next;

static double now_us(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1e6 + t.tv_nsec / 1e3;
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static int make_call(int n) {
  virDomainPtr domain = domains[n % ndomains];
  if (strcmp(name, "state") == 0) {
    int state, reason;
    return virDomainGetState(domain, &state, &reason, 0);
  }
  if (strcmp(name, "xml") == 0) {
    char *xml = virDomainGetXMLDesc(domain, 0);
    free(xml);
    return xml ? 0 : -1;
  }
  if (strcmp(name, "block") == 0) {
    virDomainBlockInfo info;
    return virDomainGetBlockInfo(domain, "hda", &info, 0);
  }
  return -1;
}

static void *work(void *unused) {
  for (int n; (n = atomic_fetch_add(&next, 1)) < count;) {
    double before = now_us();
    if (make_call(n) < 0) exit(2);
    took[n] = now_us() - before;
  }
  return unused;
}

int main(int argc, char **argv) {
  int threads;
  pthread_t others[MAX_THREADS];
  conn = argc > 1 ? virConnectOpen(argv[1]) : NULL;
  if (!conn || (ndomains = virConnectListAllDomains(conn, &domains, 0)) <= 0) return 1;
  while (scanf("%15s %d %d", name, &count, &threads) == 3 && threads <= MAX_THREADS) {
    took = malloc(count * sizeof *took);
    atomic_store(&next, 0);
    double start = now_us();
    for (int n = 1; n < threads; n++) if (pthread_create(&others[n], NULL, work, NULL) != 0) return 3;
    work(NULL);
    for (int n = 1; n < threads; n++) pthread_join(others[n], NULL);
    double total = now_us() - start;
    qsort(took, count, sizeof *took, ascending);
    printf("%f %f\n", took[count / 2], total);
    fflush(stdout);
    free(took);
  }
  return 0;
}
