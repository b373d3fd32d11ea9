#ifndef CTOML_H
#define CTOML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum ctoml_kind {
    ctoml_table,
    ctoml_array,
    ctoml_string,
    ctoml_integer,
    ctoml_real,
    ctoml_boolean,
    /// A date, a time, or both.
    ctoml_date
};

/// A key and its value. Text belongs to the document, and is UTF-8 that may contain NUL.
struct ctoml_node {
    /// The index of the table that contains it. The root is node 0 and its own parent.
    size_t parent;
    /// The last part of the key; empty for the root.
    const char *key;
    size_t key_bytes;
    /// The position of the key, from 1; 1 and 1 for the root.
    uint32_t line;
    uint32_t column;
    enum ctoml_kind kind;
    /// For a string, else empty.
    const char *text;
    size_t text_bytes;
    /// For an integer, else 0.
    int64_t integer;
    /// For a real number, else 0.
    double real;
    /// For a boolean, else false.
    bool boolean;
};

struct ctoml_failure {
    /// UTF-8; empty if nothing failed.
    const char *text;
    size_t text_bytes;
    uint32_t line;
    uint32_t column;
};

/// The nodes of a TOML file, or why it could not be read.
typedef struct ctoml_document ctoml_document;

/// Reads TOML. An array is a single node; its elements are not returned.
///
/// Input for which toml++ would need unbounded stack is a failure: more than 64 KiB, a line of more than 1000
/// bytes, or values nested more than 8 deep. Returns NULL only if memory is short. Give the document to
/// `ctoml_free`.
ctoml_document *ctoml_parse(const char *bytes, size_t count);

/// Frees a document, its nodes and their text; NULL is allowed.
void ctoml_free(ctoml_document *document);

/// The number of nodes, or 0 after a failure.
size_t ctoml_node_count(const ctoml_document *document);

/// The node at an index below `ctoml_node_count`. Parents come before their children, and the children of one
/// table are in the order of the file.
struct ctoml_node ctoml_node_at(const ctoml_document *document, size_t index);

struct ctoml_failure ctoml_failure_of(const ctoml_document *document);

#ifdef __cplusplus
}
#endif

#endif
