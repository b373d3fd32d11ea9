import Control
import DiskCalls
import Foundation
import OtherPrograms
import StoreTrials
import TestBench
import Testing

@testable import Console

/// Updates of a kit's image, as a browser sends them.
@Suite(.waitsOnNamedThreads, .serialized, .fewKitsAtATime, .timeLimit(.minutes(15)), .needs(.curl))
final class UpdateTests {
    private let place = TestFolder()
    private var root: String { place.path }

    init() { place.makeFolder("kit") }

    private var kit: String { "\(root)/kit" }
    private var folder: String { "\(root)/update" }

    private func desk(reserved: Int64 = 0) -> UpdateDesk {
        UpdateDesk(folder: folder, kitFolder: kit, trialMark: "\(root)/trial", reservedBytes: reserved)
    }

    private func write(_ text: String, to name: String) throws {
        try text.write(toFile: "\(kit)/\(name)", atomically: true, encoding: .utf8)
    }

    private func refusal(_ name: String, byteCount: Int64? = nil, of desk: UpdateDesk) -> String? {
        #expect(throws: Problem.self) { try desk.begin(name, byteCount: byteCount) }?.description
    }

    @Test func `a file appears whole, under its name, and with what was sent`() throws {
        let desk = desk()
        try FileManager.default.createDirectory(atPath: "\(folder)/old/er", withIntermediateDirectories: true)
        var upload = try desk.begin("fieldfare-1.1.0-arm64.update", byteCount: 9_000_000)
        let parts = (0..<3).map { [UInt8](repeating: $0, count: 3_000_000) }
        for part in parts { try upload.append(part) }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["received.part"])
        #expect(desk.reply().state == .idle)
        try upload.finish()
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["fieldfare-1.1.0-arm64.update"])
        let content = try Data(contentsOf: URL(filePath: "\(folder)/fieldfare-1.1.0-arm64.update"))
        #expect(content == Data(parts.joined()))
        #expect(desk.reply() == .init(state: .checking, report: []))
        #expect(refusal("fieldfare-1.2.0-arm64.update", of: desk)?.contains("is being checked") == true)
    }

    @Test func `what did not come whole is not there`() throws {
        let upload = try desk().begin("a.update", byteCount: nil)
        upload.giveUp()
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == [])
    }

    @Test(arguments: [
        "", ".update", "-a.update", "../a.update", "a/b.update", "a b.update", "a.deb", "ä.update", "a\n.update",
        String(repeating: "a", count: 94) + ".update",
    ])
    func `a name that is none is refused`(_ name: String) throws {
        #expect(refusal(name, of: desk())?.contains("is not an update's name: rename it") == true)
        #expect(!FileManager.default.fileExists(atPath: folder))
    }

    @Test func `what is too long, also where nobody said so, and what has no room, is refused`() throws {
        let most: Int64 = 256 << 20
        #expect(refusal("a.update", byteCount: most + 1, of: desk())?.contains("is longer than 256 MiB") == true)
        let full = refusal("a.update", byteCount: most, of: desk(reserved: 1 << 60))
        #expect(full == "update: a.update has 256 MiB, and 0 are free: delete takes that you have elsewhere")
        var upload = try desk().begin("a.update", byteCount: nil)
        let error = #expect(throws: Problem.self) {
            for _ in 0...256 { try upload.append([UInt8](repeating: 0, count: 1 << 20)) }
        }
        #expect(error?.description.contains("is longer than 256 MiB") == true)
        upload.giveUp()
    }

    @Test func `what the kit does is shown, and one that it cannot take now is refused`() throws {
        let desk = desk()
        try write("good a.update: 1.1.0 is tried\nbad b.update: is no file\nstrange\n", to: "report.update")
        try write("waiting\n", to: "update")
        #expect(
            desk.reply()
                == .init(
                    state: .waiting,
                    report: [
                        .init(isGood: true, text: "a.update: 1.1.0 is tried"),
                        .init(isGood: false, text: "b.update: is no file"),
                    ]))
        #expect(refusal("c.update", of: desk)?.contains("waits until nothing is recorded") == true)
        try write("checking\n", to: "update")
        #expect(desk.reply().state == .checking)
        try "".write(toFile: "\(root)/trial", atomically: true, encoding: .utf8)
        #expect(desk.reply().state == .trial)
        #expect(refusal("c.update", of: desk)?.contains("is being tried") == true)
        try FileManager.default.removeItem(atPath: kit)
        #expect(desk.reply().state == .unavailable)
        #expect(refusal("c.update", of: desk)?.contains("install the new packages with apt") == true)
    }

    @Test func `a machine without an image says so to a phone, and only files are sent`() throws {
        let kit = try RunningKit()
        #expect(try kit.phone.get("/api/update").json?["state"] == .string("unavailable"))
        let path = "/api/update/fieldfare-1.1.0-arm64.update"
        let type = ["-H", "Content-Type: application/octet-stream"]
        let sent = try kit.phone.run("PUT", path, "bundle", type)
        #expect(sent.status == 409 && sent.detail?.contains("install the new packages with apt") == true)
        #expect(try kit.phone.run("PUT", path, "{}", []).status == 415)
        #expect(try kit.stranger.run("PUT", path, "bundle", type).status == 401)
        #expect(try kit.phone.get("/api/status").status == 200)
    }
}
