#define _GNU_SOURCE
#include "CDiskCalls.h"

#include <errno.h>
#include <stddef.h>

#ifndef __has_feature
#define __has_feature(x) 0
#endif

#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || !defined(__GLIBC__) || !defined(__LP64__)

bool disk_calls_are_watched(void) { return false; }
void watch_disk_calls(const char *modules) { (void)modules; }
void stop_watching_disk_calls(void) {}
int disk_fault_count(void) { return 0; }
const char *disk_fault(int number) {
    (void)number;
    return "";
}
char *demangled_name(const char *symbol) {
    (void)symbol;
    return NULL;
}

#else

#include <dirent.h>
#include <dlfcn.h>
#include <elf.h>
#include <execinfo.h>
#include <fcntl.h>
#include <fts.h>
#include <link.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* A new thread has the name of the thread that started it, so its kind is known only after it has set its own name. */

enum kind { unknown, may_wait, shared };

#define OF_THREAD static _Thread_local __attribute__((tls_model("initial-exec")))
OF_THREAD enum kind kind = unknown;
/* A fault is being noted. Calls made meanwhile are not faults. */
OF_THREAD bool is_noting = false;

static atomic_int watchers = 0;

static bool is_shared_thread(void) {
    if (kind == unknown) kind = syscall(SYS_gettid) == getpid() ? may_wait : shared;
    return kind == shared;
}

static void *real(const char *name) { return dlsym(RTLD_NEXT, name); }

int pthread_setname_np(pthread_t thread, const char *name) {
    static int (*_Atomic named)(pthread_t, const char *);
    if (named == NULL) named = (int (*)(pthread_t, const char *))real("pthread_setname_np");
    if (pthread_equal(thread, pthread_self())) {
        /* libdispatch names threads after their queues, such as root.default-qos and -qos.overcommit. */
        bool is_dispatch = strstr(name, "-qos") != NULL, is_loop = strncmp(name, "NIO-", 4) == 0;
        kind = is_dispatch || is_loop ? shared : may_wait;
    }
    return named(thread, name);
}

struct range {
    uintptr_t start, end;
};

static struct {
    uintptr_t bias;
    const Elf64_Sym *symbols;
    size_t count;
    const char *names;
    /* The address ranges of tests' functions, sorted. */
    struct range *tests;
    size_t test_count;
} program;

static int first_object(struct dl_phdr_info *info, size_t size, void *data) {
    (void)size, (void)data;
    program.bias = info->dlpi_addr;
    return 1;
}

static bool is_function(const Elf64_Sym *symbol) {
    return ELF64_ST_TYPE(symbol->st_info) == STT_FUNC && symbol->st_size > 0;
}

static bool map_symbols(void) {
    int file = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/exe", O_RDONLY | O_CLOEXEC, 0);
    struct stat status;
    if (file < 0 || fstat(file, &status) != 0) return false;
    const char *image = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    close(file);
    if (image == MAP_FAILED) return false;
    dl_iterate_phdr(first_object, NULL);
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)image;
    const Elf64_Shdr *sections = (const Elf64_Shdr *)(image + header->e_shoff);
    for (int i = 0; i < header->e_shnum; i++) {
        if (sections[i].sh_type != SHT_SYMTAB) continue;
        program.symbols = (const Elf64_Sym *)(image + sections[i].sh_offset);
        program.count = sections[i].sh_size / sizeof(Elf64_Sym);
        program.names = image + sections[sections[i].sh_link].sh_offset;
        return true;
    }
    return false;
}

/* Whether a symbol begins with $s, a length, and the name of one of these modules or of one that ends in Tests. */
static bool is_of_test(const char *symbol, const char *modules) {
    if (symbol[0] != '$' || symbol[1] != 's' || symbol[2] < '1' || symbol[2] > '9') return false;
    char *name;
    size_t length = strtoul(symbol + 2, &name, 10);
    if (strnlen(name, length) < length) return false;
    if (length > 5 && strncmp(name + length - 5, "Tests", 5) == 0) return true;
    for (const char *module = modules; *module != 0;) {
        size_t its = strcspn(module, " ");
        if (its == length && strncmp(module, name, length) == 0) return true;
        module += its + (module[its] == ' ');
    }
    return false;
}

static int by_start(const void *left, const void *right) {
    uintptr_t a = ((const struct range *)left)->start, b = ((const struct range *)right)->start;
    return (a > b) - (a < b);
}

static void find_tests(const char *modules) {
    size_t room = 0;
    for (size_t i = 0; i < program.count; i++) {
        const Elf64_Sym *symbol = &program.symbols[i];
        if (!is_function(symbol) || !is_of_test(program.names + symbol->st_name, modules)) continue;
        if (program.test_count == room) {
            room = room == 0 ? 1 << 12 : room * 2;
            program.tests = realloc(program.tests, room * sizeof(struct range));
            if (program.tests == NULL) abort();
        }
        program.tests[program.test_count++] =
            (struct range){symbol->st_value, symbol->st_value + symbol->st_size};
    }
    if (program.test_count > 0) qsort(program.tests, program.test_count, sizeof(struct range), by_start);
}

static bool is_test(uintptr_t address) {
    size_t low = 0, high = program.test_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (program.tests[middle].start <= address) low = middle + 1; else high = middle;
    }
    return low > 0 && address < program.tests[low - 1].end;
}

static const char *name_of(uintptr_t address, const void *place) {
    for (size_t i = 0; i < program.count; i++) {
        const Elf64_Sym *symbol = &program.symbols[i];
        if (!is_function(symbol) || address < symbol->st_value) continue;
        if (address < symbol->st_value + symbol->st_size) return program.names + symbol->st_name;
    }
    Dl_info info;
    if (dladdr(place, &info) == 0) return "?";
    return info.dli_sname != NULL ? info.dli_sname : info.dli_fname;
}

extern char *swift_demangle(const char *, size_t, char *, size_t *, uint32_t) __attribute__((weak));

char *demangled_name(const char *symbol) {
    return swift_demangle == NULL ? NULL : swift_demangle(symbol, strlen(symbol), NULL, NULL, 0);
}

enum { most_faults = 1000, most_frames = 256, longest = 64 << 10 };

static struct {
    uint64_t hash;
    char *text;
} faults[most_faults];
static int fault_count = 0;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* The file in which another process reads the faults of this one, or -1. */
static int report = -1;

int disk_fault_count(void) {
    pthread_mutex_lock(&lock);
    int count = fault_count;
    pthread_mutex_unlock(&lock);
    return count;
}

const char *disk_fault(int number) {
    pthread_mutex_lock(&lock);
    const char *text = faults[number].text;
    pthread_mutex_unlock(&lock);
    return text;
}

static void add(const char *call, const char *path, void *const *frames, int count) {
    uint64_t hash = 14695981039346656037u;
    for (int i = 0; i < count; i++) hash = (hash ^ (uintptr_t)frames[i]) * 1099511628211u;
    pthread_mutex_lock(&lock);
    bool isNew = fault_count < most_faults;
    for (int i = 0; isNew && i < fault_count; i++) isNew = faults[i].hash != hash;
    char *text = isNew ? malloc(longest) : NULL;
    if (text != NULL) {
        int length = snprintf(text, longest, "%s %s\n", call, path);
        for (int i = 0; i < count && length < longest; i++) {
            /* A return address points behind its call. */
            uintptr_t address = (uintptr_t)frames[i] - 1;
            const char *name = name_of(address - program.bias, (void *)address);
            length += snprintf(text + length, (size_t)(longest - length), "%s\n", name);
        }
        faults[fault_count].hash = hash;
        faults[fault_count++].text = text;
        if (report >= 0) {
            size_t size = strlen(text);
            text[size - 1] = 0;
            syscall(SYS_write, report, text, size);
        }
    }
    pthread_mutex_unlock(&lock);
}

/* The stack shows each of these functions. */
#define NOT_INLINE __attribute__((noinline))

NOT_INLINE static void note(const char *call, const char *path) {
    void *frames[most_frames];
    int error = errno;
    is_noting = true;
    int count = backtrace(frames, most_frames);
    bool isOfTest = false;
    for (int i = 0; i < count && !isOfTest; i++) isOfTest = is_test((uintptr_t)frames[i] - 1 - program.bias);
    /* The first two frames are functions of this file. */
    if (!isOfTest && count > 2) add(call, path, frames + 2, count - 2);
    is_noting = false;
    errno = error;
}

static bool is_watched(void) {
    return atomic_load_explicit(&watchers, memory_order_relaxed) > 0 && !is_noting && is_shared_thread();
}

static bool begins(const char *path, const char *start) { return strncmp(path, start, strlen(start)) == 0; }

/* Whether an open file, folder or device is on a disk. */
static bool is_on_disk(int file) {
    struct stat status;
    struct statfs system;
    if (fstat(file, &status) != 0) return false;
    if (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode) && !S_ISBLK(status.st_mode)) return false;
    if (fstatfs(file, &system) != 0) return false;
    /* The magic numbers of proc, sysfs, cgroup and cgroup2 (statfs(2)). */
    return system.f_type != 0x9fa0 && system.f_type != 0x62656572 && system.f_type != 0x27e0eb
        && system.f_type != 0x63677270;
}

NOT_INLINE static void note_file(const char *call, int file) {
    /* The standard streams go to the journal, not to a disk. */
    if (file <= STDERR_FILENO || !is_watched()) return;
    int error = errno;
    if (is_on_disk(file)) {
        char link[64], path[512];
        snprintf(link, sizeof link, "/proc/self/fd/%d", file);
        long length = syscall(SYS_readlinkat, AT_FDCWD, link, path, sizeof path - 1);
        path[length < 0 ? 0 : length] = 0;
        note(call, path);
    }
    errno = error;
}

NOT_INLINE static void note_path(const char *call, const char *path) {
    if (!is_watched() || begins(path, "/proc/") || begins(path, "/sys/") || begins(path, "/dev/")) return;
    note(call, path);
    /* Without this, the compiler turns the call into a jump, and this function has no frame. */
    __asm__ volatile("");
}

NOT_INLINE static int opened(int folder, const char *path, int flags, mode_t mode) {
    int file = (int)syscall(SYS_openat, folder, path, flags, mode);
    /* Named threads of this project write their own names there. */
    if ((flags & O_ACCMODE) == O_WRONLY && strcmp(path, "/proc/thread-self/comm") == 0) kind = may_wait;
    if (file < 0) note_path("open", path); else note_file("open", file);
    return file;
}

#define MODE(flags, mode)                                                                                             \
    mode_t mode = 0;                                                                                                  \
    if ((flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE) {                                                 \
        va_list list;                                                                                                 \
        va_start(list, flags);                                                                                        \
        mode = va_arg(list, mode_t);                                                                                  \
        va_end(list);                                                                                                 \
    }

int open(const char *path, int flags, ...) { MODE(flags, mode) return opened(AT_FDCWD, path, flags, mode); }
int open64(const char *path, int flags, ...) { MODE(flags, mode) return opened(AT_FDCWD, path, flags, mode); }
int openat(int folder, const char *path, int flags, ...) { MODE(flags, mode) return opened(folder, path, flags, mode); }
int openat64(int folder, const char *path, int flags, ...) { MODE(flags, mode) return opened(folder, path, flags, mode); }
int creat(const char *path, mode_t mode) { return opened(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode); }
int creat64(const char *path, mode_t mode) { return opened(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode); }

/* The variable arguments are those of the system call, in its order. */
#define OF_FILE(result, call, number, parameters, ...)                                                                \
    result call parameters {                                                                                          \
        result ended = (result)syscall(number, __VA_ARGS__);                                                          \
        note_file(#call, file);                                                                                       \
        return ended;                                                                                                 \
    }

#define OF_PATH(call, number, parameters, ...)                                                                        \
    int call parameters {                                                                                             \
        int ended = (int)syscall(number, __VA_ARGS__);                                                                \
        note_path(#call, path);                                                                                       \
        return ended;                                                                                                 \
    }

OF_FILE(ssize_t, read, SYS_read, (int file, void *bytes, size_t count), file, bytes, count)
OF_FILE(ssize_t, pread, SYS_pread64, (int file, void *bytes, size_t count, off_t at), file, bytes, count, at)
OF_FILE(ssize_t, pread64, SYS_pread64, (int file, void *bytes, size_t count, off64_t at), file, bytes, count, at)
OF_FILE(ssize_t, readv, SYS_readv, (int file, const struct iovec *parts, int count), file, parts, count)
OF_FILE(ssize_t, write, SYS_write, (int file, const void *bytes, size_t count), file, bytes, count)
OF_FILE(ssize_t, pwrite, SYS_pwrite64, (int file, const void *bytes, size_t count, off_t at), file, bytes, count, at)
OF_FILE(ssize_t, pwrite64, SYS_pwrite64, (int file, const void *bytes, size_t count, off64_t at), file, bytes, count, at)
OF_FILE(ssize_t, writev, SYS_writev, (int file, const struct iovec *parts, int count), file, parts, count)
OF_FILE(int, fsync, SYS_fsync, (int file), file)
OF_FILE(int, fdatasync, SYS_fdatasync, (int file), file)
OF_FILE(int, syncfs, SYS_syncfs, (int file), file)
OF_FILE(int, sync_file_range, SYS_sync_file_range, (int file, off64_t at, off64_t count, unsigned flags), file, at,
        count, flags)
OF_FILE(int, ftruncate, SYS_ftruncate, (int file, off_t count), file, count)
OF_FILE(int, ftruncate64, SYS_ftruncate, (int file, off64_t count), file, count)
OF_FILE(int, fallocate, SYS_fallocate, (int file, int mode, off_t at, off_t count), file, mode, at, count)

OF_PATH(stat, SYS_newfstatat, (const char *path, struct stat *status), AT_FDCWD, path, status, 0)
OF_PATH(stat64, SYS_newfstatat, (const char *path, struct stat64 *status), AT_FDCWD, path, status, 0)
OF_PATH(lstat, SYS_newfstatat, (const char *path, struct stat *status), AT_FDCWD, path, status, AT_SYMLINK_NOFOLLOW)
OF_PATH(lstat64, SYS_newfstatat, (const char *path, struct stat64 *status), AT_FDCWD, path, status, AT_SYMLINK_NOFOLLOW)
OF_PATH(access, SYS_faccessat, (const char *path, int mode), AT_FDCWD, path, mode)
OF_PATH(truncate, SYS_truncate, (const char *path, off_t count), path, count)
OF_PATH(mkdir, SYS_mkdirat, (const char *path, mode_t mode), AT_FDCWD, path, mode)
OF_PATH(mkdirat, SYS_mkdirat, (int folder, const char *path, mode_t mode), folder, path, mode)
OF_PATH(rmdir, SYS_unlinkat, (const char *path), AT_FDCWD, path, AT_REMOVEDIR)
OF_PATH(unlink, SYS_unlinkat, (const char *path), AT_FDCWD, path, 0)
OF_PATH(unlinkat, SYS_unlinkat, (int folder, const char *path, int flags), folder, path, flags)
OF_PATH(link, SYS_linkat, (const char *path, const char *to), AT_FDCWD, path, AT_FDCWD, to, 0)
OF_PATH(symlink, SYS_symlinkat, (const char *to, const char *path), to, AT_FDCWD, path)
OF_PATH(rename, SYS_renameat2, (const char *path, const char *to), AT_FDCWD, path, AT_FDCWD, to, 0)
OF_PATH(renameat, SYS_renameat2, (int from, const char *path, int folder, const char *to), from, path, folder, to, 0)
OF_PATH(renameat2, SYS_renameat2, (int from, const char *path, int folder, const char *to, unsigned flags), from, path,
        folder, to, flags)

/* These functions of the C library read folders by internal calls, which cannot be replaced. */
DIR *opendir(const char *path) {
    static DIR *(*_Atomic opened)(const char *);
    if (opened == NULL) opened = (DIR * (*)(const char *)) real("opendir");
    DIR *folder = opened(path);
    note_path("opendir", path);
    return folder;
}

FTS *fts_open(char *const *paths, int options, int (*order)(const FTSENT **, const FTSENT **)) {
    static FTS *(*_Atomic opened)(char *const *, int, int (*)(const FTSENT **, const FTSENT **));
    if (opened == NULL)
        opened = (FTS * (*)(char *const *, int, int (*)(const FTSENT **, const FTSENT **))) real("fts_open");
    FTS *tree = opened(paths, options, order);
    if (paths[0] != NULL) note_path("fts_open", paths[0]);
    return tree;
}

/* A lock shows that a database is in use. It may read from the disk, even if all its pages are in memory now. */
static int controlled(int file, int command, void *argument) {
    static int (*_Atomic control)(int, int, ...);
    if (control == NULL) control = (int (*)(int, int, ...))real("fcntl64");
    int ended = control(file, command, argument);
    if (command == F_SETLK || command == F_SETLKW || command == F_OFD_SETLK) note_file("lock", file);
    return ended;
}

#define ARGUMENT(command, argument)                                                                                   \
    va_list list;                                                                                                     \
    va_start(list, command);                                                                                          \
    void *argument = va_arg(list, void *);                                                                            \
    va_end(list);

int fcntl(int file, int command, ...) { ARGUMENT(command, argument) return controlled(file, command, argument); }
int fcntl64(int file, int command, ...) { ARGUMENT(command, argument) return controlled(file, command, argument); }

/* A program that reports to another process contains no tests, so it is watched even without symbols. */
bool disk_calls_are_watched(void) { return program.count > 0 || report >= 0; }

static const char *test_modules = "";

static void prepare(void) {
    void *frames[4];
    /* The first call of backtrace loads a library. */
    is_noting = true;
    backtrace(frames, 4);
    if (map_symbols()) find_tests(test_modules);
    is_noting = false;
}

void watch_disk_calls(const char *modules) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_mutex_lock(&lock);
    if (*test_modules == 0) test_modules = strdup(modules);
    pthread_mutex_unlock(&lock);
    pthread_once(&once, prepare);
    if (disk_calls_are_watched()) watchers++;
}

void stop_watching_disk_calls(void) {
    if (disk_calls_are_watched()) watchers--;
}

/* Loaded with LD_PRELOAD, this library watches from the start of the program to its end. */
__attribute__((constructor)) static void watch_program(void) {
    const char *path = getenv("FIELDFARE_DISK_FAULTS");
    if (path == NULL) return;
    report = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    /* Programs that this one starts are not watched. */
    unsetenv("LD_PRELOAD");
    unsetenv("FIELDFARE_DISK_FAULTS");
    watch_disk_calls(" ");
}

#endif
