/* Multiplies a random quantized matrix with rows of activations in ggml, ROUNDS times. `arm_instructions.py` counts the instructions
 * and links this program with an existing build of ggml.
 *
 *     PROGRAM TYPE ROWS COLS TOKENS ROUNDS REPACK
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "ggml.h"
#include "ggml-cpu.h"
#include "ggml-backend.h"
#include "ggml-alloc.h"

static enum ggml_type type_of(const char *name) {
    for (int t = 0; t < GGML_TYPE_COUNT; t++) if (ggml_type_name(t) && !strcmp(ggml_type_name(t), name)) return t;
    exit(2);
}
int main(int argc, char **argv) {
    enum ggml_type type = type_of(argv[1]);
    int rows = atoi(argv[2]), cols = atoi(argv[3]), n = atoi(argv[4]), rounds = atoi(argv[5]), repack = atoi(argv[6]);
    struct ggml_init_params params = { 1 << 20, NULL, true };
    struct ggml_context *wctx = ggml_init(params), *ctx = ggml_init(params);
    struct ggml_tensor *w = ggml_new_tensor_2d(wctx, type, cols, rows);
    ggml_backend_t backend = ggml_backend_cpu_init();
    ggml_backend_cpu_set_n_threads(backend, 1);
    ggml_backend_dev_t dev = ggml_backend_get_device(backend);
    typedef ggml_backend_buffer_type_t *(*extra_t)(ggml_backend_dev_t);
    extra_t extra = (extra_t)ggml_backend_reg_get_proc_address(ggml_backend_dev_backend_reg(dev), "ggml_backend_dev_get_extra_bufts");
    ggml_backend_buffer_type_t bt = repack ? extra(dev)[0] : ggml_backend_cpu_buffer_type();
    ggml_backend_alloc_ctx_tensors_from_buft(wctx, bt);
    if (repack && !w->extra) { printf("no repack for this type\n"); return 3; }
    float *f = malloc(sizeof(float) * rows * cols);
    unsigned s = 1;
    for (int i = 0; i < rows * cols; i++) { s = s * 1664525u + 1013904223u; f[i] = (int)s * 4e-10f; }
    void *q = malloc(ggml_nbytes(w));
    ggml_quantize_chunk(type, f, q, 0, rows, cols, NULL);
    ggml_backend_tensor_set(w, q, 0, ggml_nbytes(w));
    struct ggml_tensor *x = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, cols, n);
    struct ggml_tensor *y = ggml_mul_mat(ctx, w, x);
    struct ggml_cgraph *g = ggml_new_graph(ctx);
    ggml_build_forward_expand(g, y);
    ggml_backend_buffer_t b = ggml_backend_alloc_ctx_tensors(ctx, backend); (void)b;
    ggml_backend_tensor_set(x, f, 0, sizeof(float) * cols * n);
    for (int r = 0; r < rounds; r++) ggml_backend_graph_compute(backend, g);
    float out[4]; ggml_backend_tensor_get(y, out, 0, sizeof out);
    double sum = 0; for (int c = 0; c < cols; c++) sum += f[c] * f[c];
    printf("%g %g\n", out[0], sum);
    return 0;
}
