import Foundation
import OtherPrograms
import Testing

/// A child process that reports its waits for a disk on shared threads.
package final class WatchedProgram: Sendable {
    private let report = FileManager.default.temporaryDirectory.appending(path: "faults-\(UUID().uuidString)").path

    package init() {}

    /// Variables for the program's environment. Empty if no compiler is installed.
    package var environment: [String: String] {
        Self.library.map { ["LD_PRELOAD": $0, "FIELDFARE_DISK_FAULTS": report] } ?? [:]
    }

    package var faults: [DiskFault] {
        let texts = (try? Data(contentsOf: URL(filePath: report)))?.split(separator: 0) ?? []
        return texts.map { DiskFault(String(decoding: $0, as: UTF8.self)) }
    }

    /// Records the faults as issues of the test. Call it when the program has ended.
    package func end() {
        var places: Set<String> = []
        for fault in faults where fault.isOfLibrary && places.insert(fault.place).inserted { Issue.record("\(fault)") }
        try? FileManager.default.removeItem(atPath: report)
    }

    /// `CDiskCalls` as a shared library for `LD_PRELOAD`.
    private static let library: String? = {
        guard OtherProgram.clang.installedPath != nil else { return nil }
        let source = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "CDiskCalls").path
        let library = FileManager.default.temporaryDirectory.appending(path: "diskcalls-\(getpid()).so").path
        let arguments = ["-shared", "-fPIC", "-O1", "-I\(source)/include", "-o", library, "\(source)/CDiskCalls.c"]
        return (try? OtherProgram.clang.output(arguments)).map { _ in library }
    }()
}
