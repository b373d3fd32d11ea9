internal import CTOML

/// The nodes of a TOML file with their positions.
struct TOMLDocument {
    /// Parents before their children; node 0 is the root.
    let nodes: [Node]

    /// A key and its value.
    struct Node {
        var parent: Int
        /// The last part of the key.
        var key: String
        var place: Place
        var value: Value
    }

    /// The position of a key, counted from 1.
    struct Place: Hashable, Comparable {
        var line: Int
        var column: Int

        static func < (left: Place, right: Place) -> Bool {
            (left.line, left.column) < (right.line, right.column)
        }
    }

    enum Value: Equatable {
        case table, array, date
        case string(String)
        case integer(Int64)
        case real(Double)
        case boolean(Bool)
    }

    struct Failure: Error {
        var place: Place
        var text: String
    }

    init(_ bytes: [UInt8]) throws(Failure) {
        if let place = Self.placeOfInvalidUTF8(in: bytes) {
            throw Failure(place: place, text: "bytes that are not UTF-8")
        }
        let count = bytes.count
        // Safe: the parser reads `count` bytes, and keeps no pointer to them after it returns.
        let parsed = unsafe bytes.withUnsafeBytes { buffer in
            unsafe ctoml_parse(buffer.baseAddress?.assumingMemoryBound(to: CChar.self), count)
        }
        guard let document = unsafe parsed else {
            throw Failure(place: Place(line: 1, column: 1), text: "memory is short")
        }
        defer { unsafe ctoml_free(document) }
        let failure = unsafe ctoml_failure_of(document)
        let reason = unsafe text(failure.text, failure.text_bytes)
        guard reason.isEmpty else {
            let place = unsafe Place(line: Int(failure.line), column: Int(failure.column))
            throw Failure(place: place, text: reason)
        }
        nodes = unsafe (0..<ctoml_node_count(document)).map { unsafe Node(ctoml_node_at(document, $0)) }
    }

    /// A table's keys, in the order of the file.
    func children(of table: Int) -> [Int] {
        nodes.indices.dropFirst().filter { nodes[$0].parent == table }
    }

    /// The parser knows the position of invalid UTF-8 only roughly.
    private static func placeOfInvalidUTF8(in bytes: [UInt8]) -> Place? {
        var place = Place(line: 1, column: 1)
        var decoder = UTF8()
        var iterator = bytes.makeIterator()
        while true {
            switch decoder.decode(&iterator) {
            case .emptyInput: return nil
            case .error: return place
            case .scalarValue("\n"): place = Place(line: place.line + 1, column: 1)
            case .scalarValue: place.column += 1
            }
        }
    }
}

extension TOMLDocument.Node {
    fileprivate init(_ node: ctoml_node) {
        unsafe parent = node.parent
        unsafe key = text(node.key, node.key_bytes)
        unsafe place = TOMLDocument.Place(line: Int(node.line), column: Int(node.column))
        value =
            switch unsafe node.kind {
            case ctoml_table: .table
            case ctoml_array: .array
            case ctoml_string: unsafe .string(text(node.text, node.text_bytes))
            case ctoml_integer: unsafe .integer(node.integer)
            case ctoml_real: unsafe .real(node.real)
            case ctoml_boolean: unsafe .boolean(node.boolean)
            default: .date
            }
    }
}

/// Copies text out of the document.
private func text(_ start: UnsafePointer<CChar>?, _ count: Int) -> String {
    // Safe: `start` and `count` come from one node, whose document is alive.
    unsafe String(decoding: UnsafeRawBufferPointer(start: start, count: count), as: UTF8.self)
}
