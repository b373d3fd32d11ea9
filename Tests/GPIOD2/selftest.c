// Runs every function of the shim, with the libgpiod that it was compiled against.
//
//   selftest                      without lines: failures must be reported as errors
//   selftest CHIP IN OUT PULL     with lines: IN is watched while PULL (gpio-sim's file of that line) moves it, OUT is driven
#include "shim.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define EXPECT(condition)                                                                          \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: not so: %s (errno %d, %s)\n", __FILE__, __LINE__,  \
				#condition, errno, strerror(errno));                               \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

static void without_lines(void)
{
	char name[CGPIOD_NAME_SIZE];

	cgpiod_copy_name(name, NULL);
	EXPECT(name[0] == 0);
	cgpiod_copy_name(name, "a name that is longer than the kernel would ever give");
	EXPECT(strlen(name) == CGPIOD_NAME_SIZE - 1);

	errno = 0;
	EXPECT(!gpiod_chip_open("/nonexistent"));
	EXPECT(errno == ENOENT);
	errno = 0;
	EXPECT(!cgpiod_request_line("/nonexistent", 0, "selftest", false, true, 1));
	EXPECT(errno == ENOENT);
	errno = 0;
	EXPECT(!cgpiod_request_line("/dev/null", 0, "selftest", true, false, 0));
	EXPECT(errno == ENOTTY || errno == ENODEV || errno == EINVAL);
}

static void pull(const char *path, const char *way)
{
	FILE *file = fopen(path, "w");
	EXPECT(file && fputs(way, file) >= 0 && fclose(file) == 0);
}

static int64_t now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

// The kernel's thread queues an edge shortly after the level has changed.
static cgpiod_edge next_edge(cgpiod_request *request)
{
	cgpiod_edge edges[CGPIOD_EDGES_AT_ONCE];
	struct pollfd wait = { .fd = cgpiod_descriptor(request), .events = POLLIN };
	EXPECT(poll(&wait, 1, 10000) == 1);
	EXPECT(cgpiod_read_edges(request, edges) == 1);
	return edges[0];
}

static void with_lines(const char *path, unsigned int in, unsigned int out, const char *pull_path)
{
	struct gpiod_chip *chip = gpiod_chip_open(path);
	cgpiod_chip_info chip_info;
	cgpiod_line_info info;
	cgpiod_request *input, *output;
	cgpiod_edge none[CGPIOD_EDGES_AT_ONCE], down, up;
	int64_t before;

	EXPECT(chip);
	EXPECT(cgpiod_read_chip_info(chip, &chip_info) == 0);
	EXPECT(chip_info.name[0] && chip_info.label[0] && chip_info.line_count > in && chip_info.line_count > out);
	EXPECT(cgpiod_read_line_info(chip, chip_info.line_count, &info) == -1);
	EXPECT(cgpiod_read_line_info(chip, in, &info) == 0 && info.name[0] && !info.is_used && !info.is_output);

	EXPECT(!cgpiod_request_line(path, chip_info.line_count, "selftest", false, true, 1));
	EXPECT((input = cgpiod_request_line(path, in, "selftest", false, true, 1)));
	EXPECT(cgpiod_read_line_info(chip, in, &info) == 0 && info.is_used && !strcmp(info.consumer, "selftest"));
	EXPECT(info.is_active_low && !info.is_output);
	errno = 0;
	EXPECT(!cgpiod_request_line(path, in, "second", false, true, 1) && errno == EBUSY);

	EXPECT(cgpiod_descriptor(input) >= 0);
	EXPECT(cgpiod_value(input) == 0);
	errno = 0;
	EXPECT(cgpiod_read_edges(input, none) == -1 && errno == EAGAIN);
	before = now();
	pull(pull_path, "pull-down");
	EXPECT(cgpiod_value(input) == 1);
	down = next_edge(input);
	pull(pull_path, "pull-up");
	up = next_edge(input);
	EXPECT(down.is_active && !up.is_active);
	EXPECT(before <= down.nanoseconds && down.nanoseconds < up.nanoseconds && up.nanoseconds <= now());

	for (int is_active_low = 0; is_active_low < 2; is_active_low++) {
		EXPECT((output = cgpiod_request_line(path, out, "selftest", true, is_active_low, 0)));
		EXPECT(cgpiod_read_line_info(chip, out, &info) == 0 && info.is_output);
		EXPECT(info.is_active_low == is_active_low);
		EXPECT(cgpiod_value(output) == 0);
		EXPECT(cgpiod_set_value(output, true) == 0 && cgpiod_value(output) == 1);
		EXPECT(cgpiod_set_value(output, false) == 0 && cgpiod_value(output) == 0);
		cgpiod_release(output);
	}

	cgpiod_release(input);
	EXPECT(cgpiod_read_line_info(chip, in, &info) == 0 && !info.is_used);
	gpiod_chip_close(chip);
}

int main(int count, char **arguments)
{
	without_lines();
	if (count == 5)
		with_lines(arguments[1], atoi(arguments[2]), atoi(arguments[3]), arguments[4]);
	printf("libgpiod %s: ok%s\n", cgpiod_version(), count == 5 ? ", with lines" : "");
	return 0;
}
