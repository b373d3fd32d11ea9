import Control
import Foundation
import StoreTrials
import Testing

@Suite(.serialized, .timeLimit(.minutes(3))) struct TakesTests {
    private let kit: RunningKit
    private let stem: String

    init() throws {
        kit = try RunningKit()
        stem = try kit.record(note: "wren")
    }

    private func file(_ name: String) throws -> Data {
        let folder = try #require(try kit.phone.get("/api/takes/\(stem)").json?["take"]?["folder"]?.text)
        return try Data(contentsOf: URL(filePath: "\(folder)/\(name)"))
    }

    @Test func `a take that was recorded by the page is listed, and its files are those of the disk`() throws {
        let page = try kit.phone.get("/api/takes?limit=1").json
        guard case .array(let takes)? = page?["takes"] else { return }
        #expect(takes.map { $0["take"] } == [.string(stem)])
        let shown = try #require(try kit.phone.get("/api/takes/\(stem)").json)
        #expect(shown["sidecar"]?["take"] == .string(stem))
        for name in ["\(stem).wav", "\(stem).json", "\(stem).dat"] {
            let answer = try kit.phone.get("/api/takes/\(stem)/files/\(name)")
            #expect(answer.status == 200)
            #expect(answer.bytes == (try file(name)))
            #expect(answer.headers["content-disposition"] == "attachment; filename=\"\(name)\"")
        }
        #expect(try kit.phone.get("/api/takes/\(stem)/files/\(stem).wav").headers["content-type"] == "audio/wav")
    }

    @Test func `parts of a file are served as Range says, and what has not changed is not sent again`() throws {
        let path = "/api/takes/\(stem)/files/\(stem).wav"
        let all = try file("\(stem).wav")
        let whole = try kit.phone.get(path)
        let tag = try #require(whole.headers["etag"])
        let head = try kit.phone.run("HEAD", path, nil, [])
        #expect(head.status == 200)
        #expect(head.headers["content-length"] == String(all.count))
        let part = try kit.phone.get(path, ["-r", "10-19"])
        #expect(part.status == 206)
        #expect(part.bytes == all[10..<20])
        #expect(part.headers["content-range"] == "bytes 10-19/\(all.count)")
        #expect(try kit.phone.get(path, ["-r", "-5"]).bytes == all.suffix(5))
        #expect(try kit.phone.get(path, ["-r", "\(all.count - 3)-"]).bytes == all.suffix(3))
        let beyond = try kit.phone.get(path, ["-r", "\(all.count)-"])
        #expect(beyond.status == 416)
        #expect(beyond.headers["content-range"] == "bytes */\(all.count)")
        #expect(try kit.phone.get(path, ["-H", "If-None-Match: \(tag)"]).status == 304)
        #expect(try kit.phone.get(path, ["-r", "0-1", "-H", "If-Range: \(tag)"]).status == 206)
        #expect(try kit.phone.get(path, ["-r", "0-1", "-H", "If-Range: \"other\""]).bytes == all)
    }

    @Test func `a memo, a star and tags are written, found, and kept by a catalog that is built again`() throws {
        let changed = try kit.phone.patch(
            "/api/takes/\(stem)", #"{"memo":"Zaunkönig","starred":true,"add":["bird","dawn"]}"#)
        #expect(changed.status == 200)
        #expect(changed.json?["take"]?["tags"] == .array([.string("bird"), .string("dawn")]))
        _ = try kit.phone.patch("/api/takes/\(stem)", #"{"remove":["dawn"]}"#)
        for query in ["text=Zaunk%C3%B6nig", "tag=bird", "starred=true", "marker=wren"] {
            guard case .array(let takes)? = try kit.phone.get("/api/takes?\(query)").json?["takes"] else { continue }
            #expect(takes.map { $0["take"] } == [.string(stem)], "\(query)")
        }
        kit.library.stop()
        let again = Process()
        again.executableURL = URL(filePath: "\(RunningKit.programs)/fieldfare-library")
        again.arguments = ["--settings", "\(kit.folder)/fieldfare.toml", "--rebuild"]
        again.standardError = FileHandle.nullDevice
        try again.run()
        again.waitUntilExit()
        #expect(again.terminationStatus == 0)
        let notes = try String(contentsOfFile: "\(kit.folder)/library/takes/\(stem).json", encoding: .utf8)
        #expect(notes.contains("Zaunkönig"))
    }

    @Test func `a take that is deleted is gone from the disk`() throws {
        let folder = try #require(try kit.phone.get("/api/takes/\(stem)").json?["take"]?["folder"]?.text)
        #expect(try kit.phone.delete("/api/takes/\(stem)?where=nowhere").status == 400)
        #expect(try kit.phone.delete("/api/takes/\(stem)").status == 204)
        #expect(!FileManager.default.fileExists(atPath: "\(folder)/\(stem).wav"))
        #expect(try kit.phone.delete("/api/takes/\(stem)").status == 404)
    }

    @Test func `no path and no link leads out of a take`() throws {
        let folder = try #require(try kit.phone.get("/api/takes/\(stem)").json?["take"]?["folder"]?.text)
        for path in [
            "/../../../etc/passwd", "/api/takes/\(stem)/files/../../../../etc/passwd",
            "/api/takes/\(stem)/files/%2e%2e%2f%2e%2e%2fpasswd",
            "/api/takes/\(stem)/files/..%2f..%2ffieldfare.toml", "/api/takes/..%2f..%2fetc/files/passwd",
            "/api/takes/\(stem)/files/fieldfare.toml", "/api/takes/\(stem)/files/\(stem).wav%00.json", "//etc/passwd",
            "/%00",
        ] {
            let answer = try kit.phone.get(path)
            #expect(answer.status == 404, "\(path): \(answer.status)")
            #expect(!answer.body.contains("root:") && !answer.body.contains("[kit]"))
        }
        let sound = "\(folder)/\(stem).wav"
        try FileManager.default.removeItem(atPath: sound)
        try FileManager.default.createSymbolicLink(atPath: sound, withDestinationPath: "/etc/passwd")
        #expect(try kit.phone.get("/api/takes/\(stem)/files/\(stem).wav").status == 404)
    }
}
