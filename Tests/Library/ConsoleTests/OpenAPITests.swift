import DiskCalls
import Foundation
import Settings
import Takes
import TestBench
import Testing
import Upload

@testable import Console
@testable import Library

/// Compares the console's routes with the document that describes them.
@Suite(.waitsOnNamedThreads) struct OpenAPITests {
    private let document: [String: Any]

    init() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "../../../Sources/Library/Console/Pages/openapi.json")
        let object = try JSONSerialization.jsonObject(with: Data(contentsOf: file))
        document = try #require(object as? [String: Any])
    }

    /// The input of a route. `line` has it on one line, for comparison.
    private struct Operation {
        var method: String
        var path: String
        /// Whether it can be used without pairing.
        var isOpen: Bool
        /// The names in the path.
        var places: [String]
        /// The names in the query. A name that may occur several times ends with a star.
        var query: [String]
        /// The media type of the body, or nil without a body.
        var mediaType: String?
        /// The keys of the body.
        var keys: [String]

        var line: String {
            let lists = [places, query, keys].map { $0.sorted().joined(separator: " ") }
            return "\(method) \(path)\(isOpen ? " open" : ""): path (\(lists[0])), query (\(lists[1])), "
                + "\(mediaType ?? "no body") (\(lists[2]))"
        }

        init(_ route: Route) {
            (method, path, isOpen) = ("\(route.method)", route.path, route.demand == .none)
            places = path.split(separator: "/").filter { $0.hasPrefix("{") }.map { String($0.dropFirst().dropLast()) }
            query =
                switch route.query {
                case .any: []
                case .once(let names): names
                case .many(let name): ["\(name)*"]
                }
            mediaType = route.mayHaveBody ? route.content.mediaType : nil
            keys = if case .json(let keys) = route.content { keys } else { [] }
        }

        init(_ method: String, _ path: String, _ described: [String: Any], in document: [String: Any]) {
            func resolved(_ value: Any?) -> [String: Any] {
                var value = value as? [String: Any] ?? [:]
                while let reference = value["$ref"] as? String {
                    value = reference.split(separator: "/").dropFirst().reduce(document) {
                        $0[String($1)] as? [String: Any] ?? [:]
                    }
                }
                return value
            }
            let parameters = (described["parameters"] as? [Any] ?? []).map(resolved)
            func names(in place: String) -> [String] {
                parameters.filter { $0["in"] as? String == place }.map { parameter in
                    let isList = resolved(parameter["schema"])["type"] as? String == "array"
                    return (parameter["name"] as? String ?? "") + (isList ? "*" : "")
                }
            }
            (self.method, self.path) = (method.uppercased(), path)
            isOpen = (described["security"] as? [Any])?.isEmpty == true
            (places, query) = (names(in: "path"), names(in: "query"))
            let body = resolved(described["requestBody"])["content"] as? [String: Any] ?? [:]
            mediaType = body.keys.first
            keys = Array(resolved(resolved(body.values.first)["schema"]).keys(of: "properties"))
        }
    }

    private func described() -> [Operation] {
        let paths = document["paths"] as? [String: [String: [String: Any]]] ?? [:]
        return paths.flatMap { path, methods in
            methods.map { Operation($0.key, path, $0.value, in: document) }
        }
    }

    @Test func `the document describes each route with its query and body, and no other`() throws {
        let place = TestFolder()
        let folder = place.path
        var settings = Settings()
        (settings.library.directory, settings.library.socket) = (folder, "\(folder)/library.sock")
        (settings.control.socket, settings.console.listen) = ("\(folder)/recorder.sock", nil)
        let reader = try DiskReader(name: "reader")
        let library = Library(settings: settings, problems: [], reader: reader, plan: { _, _, _ in nil })
        let parts = try library.build(isNew: true)
        let console = try Console(library.desk(of: parts), [], settingsFile: "\(folder)/fieldfare.toml")
        let served = Set(console.routes.filter { $0.path.hasPrefix("/api/") }.map { Operation($0).line })
        let described = Set(described().map(\.line))
        #expect(served.subtracting(described).sorted() == [])
        #expect(described.subtracting(served).sorted() == [])
        #expect(served.count > 50)
    }

    @Test func `the document describes each key of a marker to set, and no other`() throws {
        var found = document
        let path = ["paths", "/api/takes/{take}", "patch", "requestBody", "content", "application/json", "schema"]
        for key in path + ["properties", "markers", "properties", "set", "items"] {
            found = try #require(found[key] as? [String: Any], "\(key)")
        }
        #expect(found.keys(of: "properties") == LibraryRoutes.markerKeys.sorted())
        #expect(found["additionalProperties"] as? Bool == false)
    }

    @Test func `the document allows the names of takes`() throws {
        let stem = TakeName(kit: "heron07", number: 42, started: WallTime(microseconds: 1_795_241_891_250_000)).stem
        let paths = try #require(document["paths"] as? [String: [String: [String: Any]]])
        for (path, methods) in paths where path.contains("{take}") {
            for case let parameters as [[String: Any]] in methods.values.map({ $0["parameters"] }) {
                let schema = parameters.first { $0["name"] as? String == "take" }?["schema"] as? [String: Any]
                let pattern = try Regex(try #require(schema?["pattern"] as? String))
                for name in [stem, "heron07-0042-061811Z"] {
                    #expect(name.wholeMatch(of: pattern) != nil, "\(path): \(name)")
                }
            }
        }
    }
}

extension [String: Any] {
    fileprivate func keys(of name: String) -> [String] { (self[name] as? [String: Any])?.keys.sorted() ?? [] }
}
