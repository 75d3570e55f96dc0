// Options that jemalloc, which replaces malloc in every Orrery program, reads at start. With huge
// pages the kernel has fewer pages to hand out, and the processor fewer addresses to translate.
extern "C" {
extern const char* const malloc_conf;
const char* const malloc_conf = "thp:always";
}
