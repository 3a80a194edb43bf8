// The peer of the bench: libvirt's own client. Reads "CALL COUNT" lines, makes that many calls one after the other, and answers
// with a line: median and total, both in microseconds. Its API has no way to have two calls under way on one thread.
#include <libvirt/libvirt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static virConnectPtr conn;
static virDomainPtr *domains;
static int ndomains;

static double now_us(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1e6 + t.tv_nsec / 1e3;
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static int make_call(const char *name, int n) {
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

int main(int argc, char **argv) {
  char name[16];
  int count;
  conn = argc > 1 ? virConnectOpen(argv[1]) : NULL;
  if (!conn || (ndomains = virConnectListAllDomains(conn, &domains, 0)) <= 0) return 1;
  while (scanf("%15s %d", name, &count) == 2) {
    double *took = malloc(count * sizeof *took), start = now_us();
    for (int n = 0; n < count; n++) {
      double before = now_us();
      if (make_call(name, n) < 0) return 2;
      took[n] = now_us() - before;
    }
    double total = now_us() - start;
    qsort(took, count, sizeof *took, ascending);
    printf("%f %f\n", took[count / 2], total);
    fflush(stdout);
    free(took);
  }
  return 0;
}
