import Foundation
import SeededRandom

/// Processes inputs one after the other. An input that ends the process ends the worker as well.
struct Worker {
    let seed: UInt64
    /// The folder for inputs that broke a promise.
    let findings: String

    /// The exit status of a worker that found broken promises.
    static let foundStatus: Int32 = 1

    /// The most processor time for one input, in seconds.
    private static let patience = 1.0

    /// Processes the inputs `first..<end`. The file `progress` contains the number of the current input.
    func run(_ surface: any Surface.Type, from first: UInt64, until end: UInt64) throws {
        try withScratch { scratch in
            try run(surface.init(scratch: scratch), from: first, until: end)
        }
    }

    /// Processes one given input.
    func run(_ surface: any Surface.Type, input: [UInt8]) throws {
        try withScratch { scratch in
            var surface = try surface.init(scratch: scratch)
            let began = processorSeconds()
            try surface.take(input)
            print("nothing broke, in \(processorSeconds() - began) s")
        }
    }

    private func run(_ surface: some Surface, from first: UInt64, until end: UInt64) throws {
        var surface = surface
        let name = type(of: surface).name
        var reported: Set<String> = []
        let progress = Progress(findings: findings, name: "\(name)-\(seed)")
        for index in first..<end {
            progress.note(index)
            var random = SeededRandom(seed: seed, index: index)
            let input = surface.mutator.input(&random)
            let began = processorSeconds()
            var problem: String?
            do {
                try surface.take(input)
            } catch {
                problem = "\(error)"
            }
            let took = processorSeconds() - began
            if took > Self.patience { problem = problem ?? "took long" }
            guard let problem else { continue }
            // Repetitions of one problem are not informative: they differ in digits and quoted text.
            let kind = String(problem.prefix(60).filter { !$0.isNumber })
            guard reported.insert(kind).inserted, reported.count <= 20 else { continue }
            let path = try keep(input, name: name, index: index)
            print("fuzz \(name): \(problem) (\(took) s): \(path): fuzz \(name) --replay \(seed) \(index)")
            fflush(nil)
        }
        progress.note(end)
        exit(reported.isEmpty ? 0 : Self.foundStatus)
    }

    /// Saves an input, and returns its path.
    func keep(_ input: [UInt8], name: String, index: UInt64) throws -> String {
        let path = "\(findings)/\(name)-\(seed)-\(index)"
        try Data(input).write(to: URL(filePath: path))
        return path
    }

    private func withScratch(_ body: (String) throws -> Void) throws {
        let scratch = "/dev/shm/fieldfare-fuzz-\(getpid())"
        try FileManager.default.createDirectory(atPath: scratch, withIntermediateDirectories: true)
        try FileManager.default.createDirectory(atPath: findings, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: scratch) }
        try body(scratch)
    }

    private func processorSeconds() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }
}

/// The number of the current input, readable by another process.
struct Progress {
    private let path: String
    private let descriptor: Int32

    init(findings: String, name: String) {
        path = "\(findings)/.\(name)-progress"
        try? FileManager.default.createDirectory(atPath: findings, withIntermediateDirectories: true)
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
    }

    func note(_ index: UInt64) {
        var index = index
        pwrite(descriptor, &index, 8, 0)
    }

    var index: UInt64 {
        var index: UInt64 = 0
        pread(descriptor, &index, 8, 0)
        return index
    }
}
