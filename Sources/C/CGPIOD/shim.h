// The differences between libgpiod 1.x and 2.x are here, and nowhere else. Functions fail like the library: -1 or NULL,
// and errno.
#ifndef FIELDFARE_CGPIOD_SHIM_H
#define FIELDFARE_CGPIOD_SHIM_H

#include <errno.h>
#include <fcntl.h>
#include <gpiod.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h> // Swift's Glibc leaves it out

// 2.x removed the macro together with 1.x's bulk objects.
#ifdef GPIOD_LINE_BULK_MAX_LINES
#define CGPIOD_VERSION_1 1
typedef struct gpiod_line cgpiod_request;
#else
typedef struct gpiod_line_request cgpiod_request;
#endif

enum {
	CGPIOD_NAME_SIZE = 32, // the kernel's GPIO_MAX_NAME_SIZE, including the NUL
	CGPIOD_EDGES_AT_ONCE = 16, // the most that 1.x reads, and that the kernel queues per line
};

typedef struct {
	char name[CGPIOD_NAME_SIZE];
	char label[CGPIOD_NAME_SIZE];
	unsigned int line_count;
} cgpiod_chip_info;

typedef struct {
	char name[CGPIOD_NAME_SIZE];
	char consumer[CGPIOD_NAME_SIZE];
	bool is_output;
	bool is_active_low;
	bool is_used;
} cgpiod_line_info;

typedef struct {
	int64_t nanoseconds;
	bool is_active;
} cgpiod_edge;

// The library returns NULL for a missing name. Its names belong to objects that are freed.
static inline void cgpiod_copy_name(char *to, const char *from)
{
	memset(to, 0, CGPIOD_NAME_SIZE);
	if (from)
		strncpy(to, from, CGPIOD_NAME_SIZE - 1);
}

// 2.x keeps a chip's names and size in a separate object.
static inline int cgpiod_read_chip_info(struct gpiod_chip *chip, cgpiod_chip_info *info)
{
#ifdef CGPIOD_VERSION_1
	cgpiod_copy_name(info->name, gpiod_chip_name(chip));
	cgpiod_copy_name(info->label, gpiod_chip_label(chip));
	info->line_count = gpiod_chip_num_lines(chip);
#else
	struct gpiod_chip_info *object = gpiod_chip_get_info(chip);
	if (!object)
		return -1;
	cgpiod_copy_name(info->name, gpiod_chip_info_get_name(object));
	cgpiod_copy_name(info->label, gpiod_chip_info_get_label(object));
	info->line_count = gpiod_chip_info_get_num_lines(object);
	gpiod_chip_info_free(object);
#endif
	return 0;
}

// 1.x describes a line through the line itself, 2.x through a separate object.
static inline int cgpiod_read_line_info(struct gpiod_chip *chip, unsigned int offset, cgpiod_line_info *info)
{
#ifdef CGPIOD_VERSION_1
	struct gpiod_line *line = gpiod_chip_get_line(chip, offset);
	if (!line)
		return -1;
	cgpiod_copy_name(info->name, gpiod_line_name(line));
	cgpiod_copy_name(info->consumer, gpiod_line_consumer(line));
	info->is_output = gpiod_line_direction(line) == GPIOD_LINE_DIRECTION_OUTPUT;
	info->is_active_low = gpiod_line_active_state(line) == GPIOD_LINE_ACTIVE_STATE_LOW;
	info->is_used = gpiod_line_is_used(line);
#else
	struct gpiod_line_info *object = gpiod_chip_get_line_info(chip, offset);
	if (!object)
		return -1;
	cgpiod_copy_name(info->name, gpiod_line_info_get_name(object));
	cgpiod_copy_name(info->consumer, gpiod_line_info_get_consumer(object));
	info->is_output = gpiod_line_info_get_direction(object) == GPIOD_LINE_DIRECTION_OUTPUT;
	info->is_active_low = gpiod_line_info_is_active_low(object);
	info->is_used = gpiod_line_info_is_used(object);
	gpiod_line_info_free(object);
#endif
	return 0;
}

// In 1.x a requested line lives as long as its chip. The request therefore owns its chip, so that both versions behave
// alike.
static inline void cgpiod_release(cgpiod_request *request)
{
#ifdef CGPIOD_VERSION_1
	gpiod_line_close_chip(request);
#else
	gpiod_line_request_release(request);
#endif
}

// 1.x returns a line's own descriptor, 2.x its request's. In 1.x only a line with edge detection has one.
static inline int cgpiod_descriptor(cgpiod_request *request)
{
#ifdef CGPIOD_VERSION_1
	return gpiod_line_event_get_fd(request);
#else
	return gpiod_line_request_get_fd(request);
#endif
}

#ifdef CGPIOD_VERSION_1
// 1.x: flags on the line.
static inline cgpiod_request *cgpiod_request_of_chip(
	struct gpiod_chip *chip, unsigned int offset, const char *consumer, bool is_output, bool is_active_low, int pull)
{
	struct gpiod_line *line = gpiod_chip_get_line(chip, offset);
	int flags = is_active_low ? GPIOD_LINE_REQUEST_FLAG_ACTIVE_LOW : 0;
	if (!line)
		return NULL;
	if (is_output)
		return gpiod_line_request_output_flags(line, consumer, flags, 0) ? NULL : line;
	flags |= pull > 0 ? GPIOD_LINE_REQUEST_FLAG_BIAS_PULL_UP
		: pull < 0 ? GPIOD_LINE_REQUEST_FLAG_BIAS_PULL_DOWN
			   : GPIOD_LINE_REQUEST_FLAG_BIAS_DISABLE;
	return gpiod_line_request_both_edges_events_flags(line, consumer, flags) ? NULL : line;
}
#else
// 2.x: three objects, each of which may fail to be created.
static inline cgpiod_request *cgpiod_request_of_chip(
	struct gpiod_chip *chip, unsigned int offset, const char *consumer, bool is_output, bool is_active_low, int pull)
{
	struct gpiod_line_settings *settings = gpiod_line_settings_new();
	struct gpiod_line_config *lines = gpiod_line_config_new();
	struct gpiod_request_config *config = gpiod_request_config_new();
	cgpiod_request *request = NULL;
	int error = ENOMEM;

	if (settings && lines && config) {
		gpiod_line_settings_set_active_low(settings, is_active_low);
		if (is_output) {
			gpiod_line_settings_set_direction(settings, GPIOD_LINE_DIRECTION_OUTPUT);
			gpiod_line_settings_set_output_value(settings, GPIOD_LINE_VALUE_INACTIVE);
		} else {
			gpiod_line_settings_set_direction(settings, GPIOD_LINE_DIRECTION_INPUT);
			gpiod_line_settings_set_edge_detection(settings, GPIOD_LINE_EDGE_BOTH);
			gpiod_line_settings_set_event_clock(settings, GPIOD_LINE_CLOCK_MONOTONIC);
			gpiod_line_settings_set_bias(settings, pull > 0 ? GPIOD_LINE_BIAS_PULL_UP
				: pull < 0 ? GPIOD_LINE_BIAS_PULL_DOWN
					   : GPIOD_LINE_BIAS_DISABLED);
		}
		gpiod_request_config_set_consumer(config, consumer);
		if (gpiod_line_config_add_line_settings(lines, &offset, 1, settings) == 0)
			request = gpiod_chip_request_lines(chip, config, lines);
		error = errno;
	}
	if (config)
		gpiod_request_config_free(config);
	if (lines)
		gpiod_line_config_free(lines);
	if (settings)
		gpiod_line_settings_free(settings);
	errno = error;
	return request;
}
#endif

// Requests one line by path, completely or not at all: an output that begins inactive, or an input whose edges are queued
// and read without blocking. Pull is above 0 for up, below 0 for down.
static inline cgpiod_request *cgpiod_request_line(
	const char *path, unsigned int offset, const char *consumer, bool is_output, bool is_active_low, int pull)
{
	struct gpiod_chip *chip = gpiod_chip_open(path);
	cgpiod_request *request;
	bool owns_chip = false;
	int error;

	if (!chip)
		return NULL;
	request = cgpiod_request_of_chip(chip, offset, consumer, is_output, is_active_low, pull);
	error = errno;
#ifdef CGPIOD_VERSION_1
	owns_chip = request != NULL;
#endif
	if (!owns_chip)
		gpiod_chip_close(chip);
	if (request && !is_output && fcntl(cgpiod_descriptor(request), F_SETFL, O_NONBLOCK) < 0) {
		error = errno;
		cgpiod_release(request);
		request = NULL;
	}
	errno = error;
	return request;
}

// 2.x takes an array of values. Returns 1 for active, 0 for inactive.
static inline int cgpiod_value(cgpiod_request *request)
{
#ifdef CGPIOD_VERSION_1
	return gpiod_line_get_value(request);
#else
	enum gpiod_line_value value = GPIOD_LINE_VALUE_ERROR;
	return gpiod_line_request_get_values(request, &value) ? -1 : (int)value;
#endif
}

// 2.x takes an array of values.
static inline int cgpiod_set_value(cgpiod_request *request, bool is_active)
{
#ifdef CGPIOD_VERSION_1
	return gpiod_line_set_value(request, is_active);
#else
	enum gpiod_line_value value = is_active ? GPIOD_LINE_VALUE_ACTIVE : GPIOD_LINE_VALUE_INACTIVE;
	return gpiod_line_request_set_values(request, &value);
#endif
}

// 1.x fills structs, 2.x a buffer object. Returns the number of edges, at most CGPIOD_EDGES_AT_ONCE.
static inline int cgpiod_read_edges(cgpiod_request *request, cgpiod_edge *edges)
{
	int count;
#ifdef CGPIOD_VERSION_1
	struct gpiod_line_event events[CGPIOD_EDGES_AT_ONCE];
	count = gpiod_line_event_read_multiple(request, events, CGPIOD_EDGES_AT_ONCE);
	for (int i = 0; i < count; i++) {
		edges[i].nanoseconds = (int64_t)events[i].ts.tv_sec * 1000000000 + events[i].ts.tv_nsec;
		edges[i].is_active = events[i].event_type == GPIOD_LINE_EVENT_RISING_EDGE;
	}
#else
	struct gpiod_edge_event_buffer *buffer = gpiod_edge_event_buffer_new(CGPIOD_EDGES_AT_ONCE);
	int error;
	if (!buffer)
		return -1;
	count = gpiod_line_request_read_edge_events(request, buffer, CGPIOD_EDGES_AT_ONCE);
	error = errno;
	for (int i = 0; i < count; i++) {
		struct gpiod_edge_event *event = gpiod_edge_event_buffer_get_event(buffer, i);
		edges[i].nanoseconds = (int64_t)gpiod_edge_event_get_timestamp_ns(event);
		edges[i].is_active = gpiod_edge_event_get_event_type(event) == GPIOD_EDGE_EVENT_RISING_EDGE;
	}
	gpiod_edge_event_buffer_free(buffer);
	errno = error;
#endif
	return count;
}

// 2.x renamed the function.
static inline const char *cgpiod_version(void)
{
#ifdef CGPIOD_VERSION_1
	return gpiod_version_string();
#else
	return gpiod_api_version();
#endif
}

#endif
