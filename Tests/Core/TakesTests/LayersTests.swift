import FoundationEssentials
import Testing

/// The layers of the code, top layer first, from a table in `Sources/README.md`.
private struct Layers {
    struct Layer: Equatable {
        let name: String
        let mayImport: Set<String>
        let targets: Set<String>
    }

    /// A target in a layer's folder of `Sources`.
    struct Target {
        let layer: String
        let name: String
        let imports: Set<String>
    }

    let layers: [Layer]

    /// Reads the first table of a page that begins with `| layer |`. The columns are a layer, the layers that it may
    /// import, and, last, its targets.
    init(readme: String) {
        let lines = readme.split(separator: "\n", omittingEmptySubsequences: false)
        layers = lines.drop { !$0.hasPrefix("| layer |") }.dropFirst(2).prefix { $0.hasPrefix("|") }.map { row in
            let cells = row.split(separator: "|").map { cell in
                cell.split(separator: "`", omittingEmptySubsequences: false).enumerated().filter { $0.offset % 2 == 1 }
                    .map { String($0.element) }
            }
            return Layer(name: cells[0].joined(), mayImport: Set(cells[1]), targets: Set(cells.last ?? []))
        }
    }

    /// Differences between the table and the folders and imports, in both directions.
    func faults(of targets: [Target]) -> [String] {
        var faults: [String] = []
        for (place, layer) in layers.enumerated() {
            let below = Set(layers[(place + 1)...].map(\.name))
            faults += layer.mayImport.subtracting(below).map { "\(layer.name) may import \($0), which is not below it" }
        }
        let listed = Set(layers.flatMap { layer in layer.targets.map { "\(layer.name)/\($0)" } })
        let found = Set(targets.map { "\($0.layer)/\($0.name)" })
        faults += found.subtracting(listed).map { "\($0) is not in the table" }
        faults += listed.subtracting(found).map { "\($0) is in the table only" }
        for target in targets {
            let mayImport = layers.first { $0.name == target.layer }?.mayImport ?? []
            for other in targets where target.imports.contains(other.name) {
                guard other.layer != target.layer, !mayImport.contains(other.layer) else { continue }
                faults.append("\(target.layer)/\(target.name) imports \(other.layer)/\(other.name)")
            }
        }
        return faults.sorted()
    }
}

private func imports(in source: String) -> Set<String> {
    let kinds: Set<Substring> = ["struct", "class", "enum", "protocol", "typealias", "func", "let", "var"]
    let access: Set<Substring> = ["public", "package", "internal", "fileprivate", "private"]
    let modules = source.utf8.split(separator: UInt8(ascii: "\n")).compactMap { line -> String? in
        let words = Substring(line).split(separator: " ", maxSplits: 5)
        let rest = words.drop { $0.hasPrefix("@") || access.contains($0) }
        guard rest.first == "import" else { return nil }
        return rest.dropFirst().drop(while: kinds.contains).first?.split(separator: ".").first.map(String.init)
    }
    return Set(modules)
}

@Suite struct LayersTests {
    private let top = #filePath.split(separator: "/").dropLast(4).map { "/" + $0 }.joined()

    /// The contents of the subfolders of a folder of the project.
    private func contents(of folder: String) throws -> [(layer: String, name: String, path: String)] {
        let files = FileManager.default
        return try files.contentsOfDirectory(atPath: "\(top)/\(folder)").flatMap { layer in
            let path = "\(top)/\(folder)/\(layer)"
            let names = (try? files.contentsOfDirectory(atPath: path)) ?? []
            return names.map { (layer, $0, "\(path)/\($0)") }
        }
    }

    private func targets() throws -> [Layers.Target] {
        try contents(of: "Sources").map { layer, name, path in
            let files = ((try? FileManager.default.subpathsOfDirectory(atPath: path)) ?? []).filter {
                $0.hasSuffix(".swift")
            }
            let imported = try files.map { imports(in: try String(contentsOfFile: "\(path)/\($0)", encoding: .utf8)) }
            return Layers.Target(layer: layer, name: name, imports: imported.reduce([]) { $0.union($1) })
        }
    }

    @Test func `each target is in the folder of its layer, and imports its own layer and those that it may`() throws {
        let readme = try String(contentsOfFile: "\(top)/Sources/README.md", encoding: .utf8)
        let layers = Layers(readme: readme), targets = try targets()
        #expect(!layers.layers.isEmpty && targets.contains { $0.imports.contains("Takes") })
        #expect(layers.faults(of: targets) == [])
    }

    @Test func `the tests of a target are in the folder of its layer`() throws {
        let targets = Set(try contents(of: "Sources").map { "\($0.layer)/\($0.name)Tests" })
        let tests = Set(try contents(of: "Tests").map { "\($0.layer)/\($0.name)" }.filter { $0.hasSuffix("Tests") })
        #expect(!tests.isEmpty && tests.isSubset(of: targets), "\(tests.subtracting(targets).sorted())")
    }

    @Test func `time comes from a clock that is passed in, never from Swift's own`() throws {
        let folder = "\(top)/Sources"
        let files = try FileManager.default.subpathsOfDirectory(atPath: folder).filter { $0.hasSuffix(".swift") }
        let name = "Continuous" + "Clock"
        let naming = files.filter {
            String(decoding: FileManager.default.contents(atPath: "\(folder)/\($0)") ?? Data(), as: UTF8.self).contains(
                name)
        }
        #expect(files.count > 100 && naming == [])
    }

    private static let readme = """
        # The code

        | layer | may import | what it is | targets |
        |---|---|---|---|
        | `Devices` | `Core` `C` | | `Lines` |
        | `Network` | `Core` | | `Upload` |
        | `Core` | `C` | values (`struct`) | `Takes` `Ring` |
        | `C` | – | | `CGPIOD` |

        | target | its noun |
        |---|---|
        | `Takes` | the take |
        """

    private func faults(_ targets: [(layer: String, name: String, imports: Set<String>)]) -> [String] {
        Layers(readme: Self.readme).faults(of: targets.map { Layers.Target(layer: $0, name: $1, imports: $2) })
    }

    @Test func `a table of layers is read to its end`() {
        #expect(
            Layers(readme: Self.readme).layers == [
                .init(name: "Devices", mayImport: ["Core", "C"], targets: ["Lines"]),
                .init(name: "Network", mayImport: ["Core"], targets: ["Upload"]),
                .init(name: "Core", mayImport: ["C"], targets: ["Takes", "Ring"]),
                .init(name: "C", mayImport: [], targets: ["CGPIOD"]),
            ])
    }

    @Test func `imports down the table and within a layer are no faults`() {
        let faults = faults([
            ("Devices", "Lines", ["Takes", "CGPIOD", "Glibc"]), ("Network", "Upload", ["Takes"]),
            ("Core", "Takes", []), ("Core", "Ring", ["Takes"]), ("C", "CGPIOD", []),
        ])
        #expect(faults == [])
    }

    @Test func `imports up the table, beside it, and past what a layer may are named`() {
        let faults = faults([
            ("Devices", "Lines", ["Upload"]), ("Network", "Upload", ["CGPIOD"]),
            ("Core", "Takes", ["Lines"]), ("Core", "Ring", ["Takes"]), ("C", "CGPIOD", []),
        ])
        #expect(
            faults == [
                "Core/Takes imports Devices/Lines", "Devices/Lines imports Network/Upload",
                "Network/Upload imports C/CGPIOD",
            ])
    }

    @Test func `a target in another folder than in the table is named, and one that either lacks`() {
        let faults = faults([
            ("Network", "Lines", []), ("Network", "Upload", []), ("Core", "Takes", []), ("Core", "Panel", []),
            ("C", "CGPIOD", []),
        ])
        #expect(
            faults == [
                "Core/Panel is not in the table", "Core/Ring is in the table only",
                "Devices/Lines is in the table only", "Network/Lines is not in the table",
            ])
    }

    @Test func `a layer that may import one above it is named`() {
        let readme = Self.readme.replacing("| `C` | – |", with: "| `C` | `Core` |")
        let faults = Layers(readme: readme).faults(of: [])
        #expect(faults.first == "C may import Core, which is not below it")
    }

    @Test func `each form of an import is read, and no comment`() {
        let source = """
            // import Panel
            import Takes
            public import struct Ring.RingPosition
            @testable internal import Workers
            #if os(Linux)
                package import Lines
            #endif
            let text = "import Filters"
            """
        #expect(imports(in: source) == ["Takes", "Ring", "Workers", "Lines"])
    }
}
