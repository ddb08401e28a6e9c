/* A QEMU plugin that counts the instructions of a program exactly, independently of the machine's load.
 *
 *     gcc -O2 -shared -fPIC -o count.so qemu_count_instructions.c
 *     qemu-aarch64 -plugin ./count.so -d plugin PROGRAM …
 *
 * The last line on standard error is `instructions N`. Debian's qemu-user loads plugins but does not ship their header, so this
 * file declares the parts of the interface (version 1) that it uses.
 */

#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define EXPORT __attribute__((visibility("default")))

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, void (*cb)(qemu_plugin_id_t, struct qemu_plugin_tb *));
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
/* `op` 0 adds `imm` to the 64 bits at `ptr` each time that the block runs. */
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *tb, int op, void *ptr, uint64_t imm);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, void (*cb)(qemu_plugin_id_t, void *), void *data);
void qemu_plugin_outs(const char *text);

EXPORT int qemu_plugin_version = 1;

static uint64_t instructions;

/* Counts a block at once, because it is straight-line code. */
static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *block) {
    (void)id;
    qemu_plugin_register_vcpu_tb_exec_inline(block, 0, &instructions, qemu_plugin_tb_n_insns(block));
}

static void finished(qemu_plugin_id_t id, void *data) {
    (void)id, (void)data;
    char line[64];
    snprintf(line, sizeof line, "instructions %" PRIu64 "\n", instructions);
    qemu_plugin_outs(line);
}

EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv) {
    (void)info, (void)argc, (void)argv;
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    qemu_plugin_register_atexit_cb(id, finished, NULL);
    return 0;
}
