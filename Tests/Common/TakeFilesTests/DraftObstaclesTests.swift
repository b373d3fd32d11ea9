import Files
import Glibc
import PowerCuts
import TakePlaces
import Takes
import Testing

@testable import TakeFiles

/// Objects with the name of a draft that are not regular files.
struct DraftObstaclesTests {
    let bench = RecoveryBench()
    private static let endings = [".json.part", ".json.part.tmp", ".json.tmp", ".dat.part", ".json.removed"]

    enum Obstacle: CaseIterable { case folder, fullFolder, pipe, link }

    private func place(_ obstacle: Obstacle, _ file: String) throws {
        let path = "\(bench.folder)/\(file)"
        try? bench.files.remove(path)
        switch obstacle {
        case .folder: #expect(mkdir(path, 0o755) == 0)
        case .fullFolder:
            #expect(mkdir(path, 0o755) == 0)
            try bench.make([1], "\(file)/mine")
        case .pipe: #expect(mkfifo(path, 0o644) == 0)
        case .link: #expect(symlink("nowhere", path) == 0)
        }
    }

    /// Checks that the obstacle was renamed, and that nothing is left to recover.
    private func expectKept(_ obstacle: Obstacle, _ file: String, in directory: TakesDirectory) throws {
        let kept = "\(bench.folder)/\(file).other1"
        let isFolder = [.folder, .fullFolder].contains(obstacle)
        #expect(try bench.files.status(named: kept).kind == (isFolder ? .folder : .other))
        if obstacle == .fullFolder { #expect(try bench.files.contents("\(kept)/mine") == [1]) }
        #expect(try directory.leftovers() == [])
    }

    private func recover(_ name: TakeName, in directory: TakesDirectory) throws -> TakeRecovery.Outcome {
        let recovery = TakeRecovery(of: name, in: directory, bootID: "another")
        while true {
            if let outcome = try recovery.step() { return outcome }
        }
    }

    @Test(arguments: endings, Obstacle.allCases)
    func `it costs a take that is recorded nothing`(ending: String, obstacle: Obstacle) throws {
        let directory = try TakesDirectory(path: bench.path)
        let output = try TakeOutput(directory)
        let name = output.name
        try output.append(500)
        output.appendPeaks([Int8](repeating: 1, count: 4096))
        try output.sync()
        try place(obstacle, name.stem.file(ending))
        try output.append(500)
        output.note(markers: [Sidecar.Marker(atFrame: 700, note: "mine")])
        try output.sync()
        let sidecar = try output.finish(endedBy: .stop, levels: [])
        #expect(sidecar.frames == 1000 && sidecar.markers.count == 1)
        #expect(try directory.sidecar(of: name) == sidecar)
        if ending == ".json.removed" { #expect(try recover(name, in: directory) == .unchanged) }
        try expectKept(obstacle, name.stem.file(ending), in: directory)
    }

    @Test(arguments: endings, Obstacle.allCases)
    func `a take that was cut is recovered beside it`(ending: String, obstacle: Obstacle) throws {
        let directory = try TakesDirectory(path: bench.path)
        let output = try TakeOutput(directory)
        try output.append(500)
        try output.sync()
        try place(obstacle, output.name.stem.file(ending))
        guard case .recovered(let sidecar) = try recover(output.name, in: directory) else {
            Issue.record("it is not recovered")
            return
        }
        #expect(sidecar.frames == 500)
        try expectKept(obstacle, output.name.stem.file(ending), in: directory)
    }

    @Test(arguments: endings, Obstacle.allCases)
    func `a finished take stays, and can be removed`(ending: String, obstacle: Obstacle) throws {
        let directory = try TakesDirectory(path: bench.path)
        for isRecovered in [true, false] {
            let output = try TakeOutput(directory)
            try output.append(500)
            let sidecar = try output.finish(endedBy: .stop, levels: [])
            try place(obstacle, output.name.stem.file(ending))
            if isRecovered {
                #expect(try recover(output.name, in: directory) == .unchanged)
                #expect(try directory.sidecar(of: output.name) == sidecar)
                try expectKept(obstacle, output.name.stem.file(ending), in: directory)
            } else if ending != ".dat.part" {
                try directory.remove(output.name)
                try expectKept(obstacle, output.name.stem.file(ending), in: directory)
            }
        }
    }
}
