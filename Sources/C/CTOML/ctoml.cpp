#include "ctoml.h"

// Header-only, because the depth limit is fixed when toml++ is compiled. A failed parse is a value, not an exception.
#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#define TOML_MAX_NESTED_VALUES 8
// toml++ 3.3.0 has assertions that a file can violate, such as `[@a]`. With NDEBUG the compiler would rely on them.
#undef NDEBUG
#define TOML_ASSERT(expression) static_assert(true)
// It also marks code as unreachable that is reached by letters such as ü outside strings and comments. Since 3.4 its
// headers end in .hpp.
#if __has_include(<toml++/impl/forward_declarations.hpp>)
#include <toml++/impl/forward_declarations.hpp>
#else
#include <toml++/impl/forward_declarations.h>
#endif
#pragma push_macro("TOML_UNREACHABLE")
#undef TOML_UNREACHABLE
#define TOML_UNREACHABLE return false
#if __has_include(<toml++/impl/unicode.hpp>)
#include <toml++/impl/unicode.hpp>
#else
#include <toml++/impl/unicode.h>
#endif
#pragma pop_macro("TOML_UNREACHABLE")
#include <toml++/toml.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr size_t maximum_bytes = 64 * 1024;
constexpr size_t maximum_line_bytes = 1000;

struct node {
    size_t parent;
    std::string key;
    toml::source_position position;
    // Points into the document's root.
    const toml::node *value;
};

struct failure {
    std::string text;
    toml::source_position position;
};

} // namespace

struct ctoml_document {
    toml::table root;
    std::vector<node> nodes;
    failure problem;
};

namespace {

/// toml++ frees nested tables recursively, and dotted keys nest them without limit. Therefore the length of lines is
/// limited.
bool is_within_limits(std::string_view text, failure &problem) {
    uint32_t line = 1;
    for (size_t start = 0; start <= text.size(); line++) {
        const size_t end = std::min(text.find('\n', start), text.size());
        if (end - start > maximum_line_bytes) {
            problem = {"a line of " + std::to_string(end - start) + " bytes, but at most "
                           + std::to_string(maximum_line_bytes) + " are allowed",
                       {line, 1}};
            return false;
        }
        start = end + 1;
    }
    if (text.size() > maximum_bytes) {
        problem = {"a file of " + std::to_string(text.size()) + " bytes, but at most " + std::to_string(maximum_bytes)
                       + " are allowed",
                   {1, 1}};
        return false;
    }
    return true;
}

void list_children(const toml::table &table, size_t parent, std::vector<node> &nodes) {
    const size_t first = nodes.size();
    for (auto &&[key, value] : table) {
        nodes.push_back({parent, std::string{key.str()}, key.source().begin, &value});
    }
    // toml++ keeps a table sorted by its keys.
    std::stable_sort(nodes.begin() + static_cast<std::ptrdiff_t>(first), nodes.end(),
                     [](const node &left, const node &right) { return left.position < right.position; });
}

void parse(std::string_view text, ctoml_document &document) {
    if (!is_within_limits(text, document.problem)) {
        return;
    }
    toml::parse_result result = toml::parse(text);
    if (!result) {
        document.problem = {std::string{result.error().description()}, result.error().source().begin};
        if (document.problem.text.empty()) {
            document.problem.text = "not TOML";
        }
        return;
    }
    document.root = std::move(result).table();
    document.nodes.push_back({0, "", {1, 1}, &document.root});
    for (size_t index = 0; index < document.nodes.size(); index++) {
        if (const toml::table *table = document.nodes[index].value->as_table()) {
            list_children(*table, index, document.nodes);
        } else if (const toml::array *array = document.nodes[index].value->as_array()) {
            for (const toml::node &element : *array) {
                document.nodes.push_back({index, "", element.source().begin, &element});
            }
        }
    }
}

} // namespace

extern "C" ctoml_document *ctoml_parse(const char *bytes, size_t count) {
    try {
        auto document = std::make_unique<ctoml_document>();
        try {
            parse({bytes, count}, *document);
        } catch (const std::exception &error) {
            document->nodes.clear();
            document->problem = {error.what(), {1, 1}};
        }
        return document.release();
    } catch (...) {
        return nullptr;
    }
}

extern "C" void ctoml_free(ctoml_document *document) {
    delete document;
}

extern "C" size_t ctoml_node_count(const ctoml_document *document) {
    return document->nodes.size();
}

extern "C" ctoml_node ctoml_node_at(const ctoml_document *document, size_t index) {
    const node &source = document->nodes[index];
    ctoml_node result = {};
    result.parent = source.parent;
    result.key = source.key.data();
    result.key_bytes = source.key.size();
    result.line = source.position.line;
    result.column = source.position.column;
    switch (source.value->type()) {
    case toml::node_type::table:
        result.kind = ctoml_table;
        break;
    case toml::node_type::array:
        result.kind = ctoml_array;
        break;
    case toml::node_type::string: {
        const std::string &text = source.value->as_string()->get();
        result.kind = ctoml_string;
        result.text = text.data();
        result.text_bytes = text.size();
        break;
    }
    case toml::node_type::integer:
        result.kind = ctoml_integer;
        result.integer = source.value->as_integer()->get();
        break;
    case toml::node_type::floating_point:
        result.kind = ctoml_real;
        result.real = source.value->as_floating_point()->get();
        break;
    case toml::node_type::boolean:
        result.kind = ctoml_boolean;
        result.boolean = source.value->as_boolean()->get();
        break;
    case toml::node_type::date:
    case toml::node_type::time:
    case toml::node_type::date_time:
    case toml::node_type::none:
        result.kind = ctoml_date;
        break;
    }
    return result;
}

extern "C" ctoml_failure ctoml_failure_of(const ctoml_document *document) {
    const failure &problem = document->problem;
    return {problem.text.data(), problem.text.size(), problem.position.line, problem.position.column};
}
