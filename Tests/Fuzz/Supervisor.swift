import Foundation
import SeededRandom

/// Runs workers until all inputs are done. The next worker continues after the input that ended the previous one.
struct Supervisor {
    let surface: any Surface.Type
    let seed: UInt64
    let count: UInt64
    let findings: String

    /// A worker hangs if it makes no progress for this long, in seconds.
    private static let patience = 60.0
    /// The run stops after this many workers have ended.
    private static let mostEnds = 20

    /// - Returns: whether every promise held.
    func run() throws -> Bool {
        let name = surface.name
        let progress = Progress(findings: findings, name: "\(name)-\(seed)")
        let began = Date()
        var first: UInt64 = 0
        var isWhole = true
        var ends = 0
        print("fuzz \(name): \(count) inputs of seed \(seed)")
        fflush(nil)
        while first < count, ends < Self.mostEnds {
            progress.note(first)
            let worker = try start(from: first)
            let hung = watch(worker, progress)
            // The worker can no longer remove it.
            try? FileManager.default.removeItem(atPath: "/dev/shm/fieldfare-fuzz-\(worker.processIdentifier)")
            if worker.terminationReason == .exit, [0, Worker.foundStatus].contains(worker.terminationStatus), !hung {
                isWhole = isWhole && worker.terminationStatus == 0
                break
            }
            let index = progress.index
            let path = try keep(index)
            let how = hung ? "hangs" : "ended by signal or status \(worker.terminationStatus)"
            print("fuzz \(name): \(how): \(path): fuzz \(name) --replay \(seed) \(index)")
            isWhole = false
            ends += 1
            first = index + 1
        }
        let seconds = Date().timeIntervalSince(began)
        let rate = Int(Double(progress.index) / seconds)
        print("fuzz \(name): \(progress.index) inputs in \(Int(seconds)) s, \(rate)/s: \(isWhole ? "ok" : "BROKEN")")
        return isWhole
    }

    private func start(from first: UInt64) throws -> Process {
        let worker = Process()
        worker.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        worker.arguments = [
            surface.name, "--first", "\(first)", "--count", "\(count)", "--seed", "\(seed)", "--findings", findings,
        ]
        try worker.run()
        return worker
    }

    /// Waits for a worker's end, and kills it if it hangs.
    private func watch(_ worker: Process, _ progress: Progress) -> Bool {
        var last = progress.index
        var since = Date()
        while worker.isRunning {
            Thread.sleep(forTimeInterval: 0.05)
            let index = progress.index
            if index != last { (last, since) = (index, Date()) }
            if Date().timeIntervalSince(since) > Self.patience {
                kill(worker.processIdentifier, SIGKILL)
                worker.waitUntilExit()
                return true
            }
        }
        return false
    }

    /// Generates the input again without running it, and saves it.
    private func keep(_ index: UInt64) throws -> String {
        let scratch = "/dev/shm/fieldfare-fuzz-\(getpid())"
        try FileManager.default.createDirectory(atPath: scratch, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: scratch) }
        var random = SeededRandom(seed: seed, index: index)
        let input = try surface.init(scratch: scratch).mutator.input(&random)
        return try Worker(seed: seed, findings: findings).keep(input, name: surface.name, index: index)
    }
}
