// jemalloc, the malloc of all Orrery programs, reads these options at start. Huge pages save page
// faults and misses of the TLB.
extern "C" {
extern const char* const malloc_conf;
const char* const malloc_conf = "thp:always";
}
