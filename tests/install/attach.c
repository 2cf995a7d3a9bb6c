/* A first program in C: prints its version, and that there is no daemon. */
#include <echoline/echoline.h>
#include <stdio.h>

int main(int argc, char** argv) {
  echoline_attach_options options;
  echoline_loader* loader = NULL;
  int status;
  echoline_attach_options_init(&options, sizeof options);
  options.stream = "train";
  options.runtime_dir = argc > 1 ? argv[1] : "";
  printf("version %s\n", echoline_version());
  status = echoline_attach(&options, &loader);
  printf("status %s: %s\n", echoline_status_text(status), echoline_last_error());
  return status == ECHOLINE_OK ? 1 : 0;
}
