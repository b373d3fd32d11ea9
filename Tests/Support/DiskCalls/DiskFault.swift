import CDiskCalls
import Foundation

/// A call on one of Swift's shared threads or on an event loop that may wait for a disk.
package struct DiskFault: Hashable, Sendable, CustomStringConvertible {
    /// The call and its path, such as `open /var/lib/fieldfare-library/phones.json`.
    package let call: String
    /// The functions on the stack, innermost first.
    package let frames: [String]

    private static func contents(of folder: String) -> [String] {
        let top = #filePath.split(separator: "/").dropLast(4).map { "/" + $0 }.joined()
        return (try? FileManager.default.contentsOfDirectory(atPath: "\(top)/\(folder)")) ?? []
    }

    /// Targets of tests, which may wait anywhere: all of `Tests/Support` except this one, and Swift's own. Targets
    /// whose name ends in `Tests` are tests too.
    private static let testModules =
        contents(of: "Tests/Support").filter { $0 != "DiskCalls" } + ["Testing", "XCTest", "_Testing_Foundation"]

    /// - Parameter text: one line for the call, then one line for each mangled name.
    init(_ text: String) {
        let lines = text.split(separator: "\n").map(String.init)
        call = lines.first ?? ""
        frames = lines.dropFirst().map { symbol in
            guard let name = demangled_name(symbol) else { return symbol }
            defer { free(name) }
            return String(cString: name)
        }
    }

    /// The targets in `Sources`.
    private static let modules = contents(of: "Sources").flatMap { contents(of: "Sources/\($0)") }

    /// The targets of the other programs, which may wait on any thread.
    private static let otherModules = ["Recorder", "Devices", "CommandLine"].flatMap { contents(of: "Sources/\($0)") }

    private static func names(_ frame: String, anyOf modules: [String]) -> Bool {
        modules.contains { module in
            frame.contains("(extension in \(module))") || frame.hasPrefix("\(module).") || frame.contains(" \(module).")
        }
    }

    /// The frames that are code of `Sources`.
    private var own: [String] { frames.filter { Self.names($0, anyOf: Self.modules) } }

    /// Whether it is the library's: code of `Sources` is on the stack, but no code of a test or of another program, whose
    /// tests run in the same process.
    ///
    /// `CDiskCalls` already leaves out most tests by their symbols. Demangled names also show a test's extension of
    /// another module's type. The actors of this module open files on purpose. If a test calls a database with
    /// `await`, or releases an object, the stack has no code of the test. An object ends on the thread that releases it
    /// last.
    var isOfLibrary: Bool {
        let isOfOther = frames.contains { frame in
            frame.contains("Tests.") || frame.contains("Tests)")
                || Self.names(frame, anyOf: Self.testModules + ["DiskCalls"] + Self.otherModules)
        }
        guard !isOfOther, let outermost = own.last else { return false }
        return !["deinit", "destroy value witness", "outlined destroy"].contains { outermost.contains($0) }
    }

    /// The outermost frame of `Sources`: the function that must move to another thread.
    var place: String { own.last ?? "" }

    package var description: String {
        "\(call): waits for a disk on a shared thread\n" + own.map { "    \($0)" }.joined(separator: "\n")
    }

    /// Whether calls can be watched. Under a sanitizer they cannot.
    package static var areFound: Bool {
        watch()
        defer { stopWatching() }
        return disk_calls_are_watched()
    }

    static func watch() { watch_disk_calls(testModules.joined(separator: " ")) }
    static func stopWatching() { stop_watching_disk_calls() }

    /// The faults in this process since the first test began to watch.
    /// - Parameter first: the number of the first fault to return.
    static func found(from first: Int = 0) -> [DiskFault] {
        let count = Int(disk_fault_count())
        guard first < count else { return [] }
        return (first..<count).map { DiskFault(String(cString: disk_fault(Int32($0)))) }
    }

    package static func found(at path: String) -> [DiskFault] { found().filter { $0.call.hasSuffix(" \(path)") } }
}
