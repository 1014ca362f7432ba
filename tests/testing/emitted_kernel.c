/* Reads the questions of `npconv emit DIR`, answers those about forward, writes plain float32.
   cc -O2 -o kernel emitted_kernel.c && ./kernel DIR && npconv judge DIR */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *folder;

static float *read_array(int number, const char *name, long count) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%d.%s.npy", folder, number, name);
    FILE *file = fopen(path, "rb");
    float *data = malloc(count * sizeof *data);
    if (!file || fseek(file, 128, SEEK_SET) || fread(data, sizeof *data, count, file) != (size_t)count)
        exit((fprintf(stderr, "cannot read %s\n", path), 1));
    fclose(file);
    return data;
}

static void convolve(const float *x, const float *w, const float *b, float *y, int N, int C, int H, int W, int O,
                     int KH, int KW, int G, int SH, int SW, int top, int left, int DH, int DW, int OH, int OW) {
    int I = C / G;
    for (int n = 0; n < N; n++)
        for (int o = 0; o < O; o++)
            for (int p = 0; p < OH; p++)
                for (int q = 0; q < OW; q++) {
                    float sum = b ? b[o] : 0;
                    for (int j = 0; j < I; j++)
                        for (int kh = 0; kh < KH; kh++)
                            for (int kw = 0; kw < KW; kw++) {
                                int c = o / (O / G) * I + j, h = p * SH + kh * DH - top, v = q * SW + kw * DW - left;
#ifdef FAULT /* channels of groups interleaved */
                                c = j * G + o / (O / G);
#endif
                                if (h >= 0 && h < H && v >= 0 && v < W)
                                    sum += x[((n * C + c) * H + h) * W + v] * w[((o * I + j) * KH + kh) * KW + kw];
                            }
                    y[((n * O + o) * OH + p) * OW + q] = sum;
                }
}

int main(int argc, char **argv) {
    char path[4096], line[1024], part[32];
    int n, N, C, H, W, O, KH, KW, G, SH, SW, top, bottom, left, right, DH, DW, OPH, OPW, OH, OW, bias;
    if (argc != 2) return fprintf(stderr, "usage: %s DIR\n", argv[0]), 2;
    folder = argv[1];
    snprintf(path, sizeof path, "%s/manifest.txt", folder);
    FILE *manifest = fopen(path, "r");
    if (!manifest) return fprintf(stderr, "cannot read %s\n", path), 2;
    while (fgets(line, sizeof line, manifest)) {
        if (line[0] == '#' || sscanf(line, "%d %31s %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d",
                &n, part, &N, &C, &H, &W, &O, &KH, &KW, &G, &SH, &SW, &top, &bottom, &left, &right, &DH, &DW, &OPH,
                &OPW, &OH, &OW, &bias) != 23 || strcmp(part, "forward"))
            continue;
        float *x = read_array(n, "input", (long)N * C * H * W), *w = read_array(n, "weight", (long)O * (C / G) * KH * KW);
        float *b = bias ? read_array(n, "bias", O) : NULL, *y = malloc(sizeof *y * N * O * OH * OW);
        convolve(x, w, b, y, N, C, H, W, O, KH, KW, G, SH, SW, top, left, DH, DW, OH, OW);
        snprintf(path, sizeof path, "%s/%d.forward.f32", folder, n);
        FILE *result = fopen(path, "wb");
        if (!result || fwrite(y, sizeof *y, (long)N * O * OH * OW, result) == 0) return 1;
        fclose(result), free(x), free(w), free(b), free(y);
    }
    return fclose(manifest);
}
