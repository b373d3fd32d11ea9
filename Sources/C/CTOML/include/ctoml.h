#ifndef CTOML_H
#define CTOML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// What a node is.
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

/// A key and its value. Text belongs to the document, and is UTF-8 that may hold NUL.
struct ctoml_node {
    /// The index of the table that it is in. The root is node 0 and its own parent.
    size_t parent;
    /// Its own part of the key; empty for the root.
    const char *key;
    size_t key_bytes;
    /// Where the key stands, from 1; 1 and 1 for the root.
    uint32_t line;
    uint32_t column;
    enum ctoml_kind kind;
    /// Of a string; else empty.
    const char *text;
    size_t text_bytes;
    /// Of an integer; else 0.
    int64_t integer;
    /// Of a real number; else 0.
    double real;
    /// Of a boolean; else false.
    bool boolean;
};

/// Why a document could not be read.
struct ctoml_failure {
    /// UTF-8; empty: nothing failed.
    const char *text;
    size_t text_bytes;
    uint32_t line;
    uint32_t column;
};

/// The nodes of a TOML file, or why it could not be read.
typedef struct ctoml_document ctoml_document;

/// Reads TOML. An array is one node: what is in it is not handed over.
///
/// What toml++ would need unbounded stack for is a failure: more than 64 KiB, a line of more than 1000 bytes, or
/// values nested more than 8 deep. Returns NULL only when memory is short. Give the document to `ctoml_free`.
ctoml_document *ctoml_parse(const char *bytes, size_t count);

/// Frees a document, its nodes and their text; NULL is allowed.
void ctoml_free(ctoml_document *document);

/// How many nodes there are: 0 after a failure.
size_t ctoml_node_count(const ctoml_document *document);

/// The node at an index below `ctoml_node_count`. Parents come before their children, and the children of one
/// table in the order of the file.
struct ctoml_node ctoml_node_at(const ctoml_document *document, size_t index);

/// Why the document could not be read.
struct ctoml_failure ctoml_failure_of(const ctoml_document *document);

#ifdef __cplusplus
}
#endif

#endif
