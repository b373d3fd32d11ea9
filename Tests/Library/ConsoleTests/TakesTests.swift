import Control
import Foundation
import OtherPrograms
import StoreTrials
import Testing

@Suite(.serialized, .fewKitsAtATime, .timeLimit(.minutes(15)), .needs(.curl)) struct TakesTests {
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
        let modified = try #require(whole.headers["last-modified"])
        #expect(try kit.phone.get(path, ["-H", "If-Modified-Since: \(modified)"]).status == 304)
        #expect(
            try kit.phone.get(path, ["-H", "If-Modified-Since: \(modified)", "-H", "If-None-Match: \"other\""]).status
                == 200)
        #expect(try kit.phone.run("HEAD", path, nil, ["-H", "Range: bytes=10-19"]).status == 200)
        // A path means the same with percent-encoding (RFC 3986, 6.2.2.2), and a NUL does not end a name.
        #expect(try kit.phone.get(path.replacing("-", with: "%2D")).bytes == all)
        for strange in ["\(stem)%00", "\(stem)%2F..", "%2e%2e", "\(stem)%ff"] {
            #expect(try kit.phone.get("/api/takes/\(strange)").status == 404, "\(strange)")
        }
        #expect(try kit.phone.get(path, ["-H", "Range: Bytes=10-19"]).bytes == all[10..<20])
        #expect(try kit.phone.get(path, ["-r", "0-1", "-H", "If-Range: \(tag)"]).status == 206)
        #expect(try kit.phone.get(path, ["-r", "0-1", "-H", "If-Range: \"other\""]).bytes == all)
    }

    @Test func `a memo, a star and tags are written, found, and kept by a catalog that is built again`() throws {
        let changed = try kit.phone.patch(
            "/api/takes/\(stem)", #"{"memo":"Zaunkönig","starred":true,"add":["bird","dawn"]}"#)
        #expect(changed.status == 200)
        #expect(changed.json?["take"]?["tags"] == .array([.string("bird"), .string("dawn")]))
        _ = try kit.phone.patch("/api/takes/\(stem)", #"{"remove":["dawn"]}"#)
        // If two phones write at once, the second one receives the memo of the first.
        let late = try kit.phone.patch("/api/takes/\(stem)", #"{"memo":"wren","memo_was":null}"#)
        #expect(late.status == 409)
        let sentence =
            "memo: \(stem): somebody else changed it meanwhile, to \"Zaunkönig\": look at it, then save yours again"
        #expect(late.detail == sentence)
        let same = try kit.phone.patch("/api/takes/\(stem)", #"{"memo":"Zaunkönig","memo_was":"Zaunkönig"}"#)
        #expect(same.json?["take"]?["memo"] == .string("Zaunkönig"))
        #expect(try kit.phone.patch("/api/takes/\(stem)", #"{"memo_was":"Zaunkönig"}"#).status == 400)
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

    @Test func `markers of a finished take are set, described, removed, found, and kept in clips`() throws {
        let path = "/api/takes/\(stem)"
        let recorded = try #require(try kit.phone.get(path).json?["markers"])
        guard case .array(let list) = recorded, let wren = list.first?["at_frame"]?.integer else { return }
        #expect(list.map { $0["note"] } == [.string("wren")])
        let set = try kit.phone.patch(
            path, #"{"markers":{"set":[{"at_frame":7,"note":"owl"},{"at_frame":\#(wren),"note":"robin"}]}}"#)
        #expect(set.status == 200, "\(set.body)")
        #expect(set.json?["take"]?["counts"]?["markers"] == .integer(2))
        let shown = try kit.phone.get(path).json
        #expect(
            shown?["markers"]?.description
                == #"[{"at_frame":7,"note":"owl"},{"at_frame":\#(wren),"note":"robin"}]"#)
        #expect(shown?["sidecar"]?["markers"] == recorded)
        let clip = try kit.phone.get(path + "/clip?from=0&to=10")
        #expect(clip.bytes.firstRange(of: Data("owl".utf8)) != nil)
        #expect(clip.bytes.firstRange(of: Data("wren".utf8)) == nil)
        _ = try kit.phone.patch(path, #"{"markers":{"remove":[7,\#(wren)]}}"#)
        #expect(try kit.phone.get(path).json?["markers"] == .array([]))
        for (request, sentence) in [
            (#"{"markers":{"set":[{"at_frame":99999999}]}}"#, "99999999 lies behind its end"),
            (#"{"markers":{"set":[{"at_frame":-1}]}}"#, "set: found"),
            (#"{"markers":{"add":[]}}"#, "set, remove, or both"),
            (#"{"markers":{}}"#, "set and remove are both empty"), (#"{"markers":[]}"#, "set, remove, or both"),
        ] {
            let answer = try kit.phone.patch(path, request)
            #expect(answer.status == 400 && answer.detail?.contains(sentence) == true, "\(request): \(answer.body)")
        }
    }

    @Test(.needs(.python))
    func `an archive has what people noted, with the markers as they are now, and its length is what was said`()
        throws
    {
        let path = "/api/archive?take=\(stem)"
        let zip = "\(kit.folder)/take.zip"
        let script = """
            import json, sys, zipfile
            archive = zipfile.ZipFile(sys.argv[1])
            assert archive.testzip() is None
            for info in archive.infolist():
                assert info.flag_bits & 8 == 0
                if info.filename.endswith(".notes.json"):
                    print(json.dumps(json.loads(archive.read(info)), sort_keys=True))
            print(sorted(name.split("/")[-1] for name in archive.namelist()))
            """
        func read() throws -> [String] {
            let answer = try kit.phone.get(path)
            #expect(answer.headers["content-length"] == String(answer.bytes.count))
            try answer.bytes.write(to: URL(filePath: zip))
            let (status, report) = try kit.run(OtherProgram.python.path, ["-c", script, zip])
            #expect(status == 0, "\(report)")
            return report.split(separator: "\n").map(String.init)
        }
        let plain = "['\(stem).dat', '\(stem).json', '\(stem).wav']"
        #expect(try read() == [plain])
        _ = try kit.phone.patch(
            "/api/takes/\(stem)",
            #"{"memo":"by the weir","starred":true,"add":["owl"],"markers":{"set":[{"at_frame":7,"note":"owl"}]}}"#)
        guard case .array(let markers)? = try kit.phone.get("/api/takes/\(stem)").json?["markers"] else { return }
        let wren = try #require(markers.last?["at_frame"]?.integer)
        #expect(
            try read() == [
                #"{"markers": [{"at_frame": 7, "note": "owl"}, {"at_frame": \#(wren), "note": "wren"}], "memo": "by the weir", "#
                    + #""revision": 1, "schema": 1, "star": true, "tags": ["owl"], "take": "\#(stem)", "title": null}"#,
                "['\(stem).dat', '\(stem).json', '\(stem).notes.json', '\(stem).wav']",
            ])
        // Removed notes are included, too.
        _ = try kit.phone.patch(
            "/api/takes/\(stem)", #"{"memo":null,"starred":false,"remove":["owl"],"markers":{"remove":[7,\#(wren)]}}"#)
        #expect(
            try read().first
                == #"{"markers": [], "memo": null, "revision": 2, "schema": 1, "star": false, "tags": [], "#
                + #""take": "\#(stem)", "title": null}"#)
    }

    @Test func `takes are found by the kit that recorded them, and by where they stand`() throws {
        func stems(_ query: String) throws -> JSONValue? {
            let page = try kit.phone.get("/api/takes?\(query)").json
            guard case .array(let takes)? = page?["takes"] else { return page }
            return .array(takes.compactMap { $0["take"] })
        }
        #expect(try stems("kit=heron07&upload=none") == .array([.string(stem)]))
        #expect(try stems("kit=heron07&upload=not-done") == .array([.string(stem)]))
        #expect(try stems("kit=heron08") == .array([]))
        #expect(try stems("upload=done") == .array([]))
        #expect(try kit.phone.get("/api/library").json?["kits"] == .array([.string("heron07")]))
    }

    @Test func `a change of which one part is refused changes nothing`() throws {
        let path = "/api/takes/\(stem)"
        let tags = (0...50).map { "\"t\($0)\"" }.joined(separator: ",")
        for request in [
            #"{"memo":"changed","markers":{"set":[{"at_frame":99999999,"note":"x"}]}}"#,
            #"{"memo":"changed","starred":true,"add":[\#(tags)]}"#, #"{"memo":"changed","add":["a"],"remove":[7]}"#,
        ] {
            #expect(try kit.phone.patch(path, request).status == 400)
            let take = try kit.phone.get(path).json?["take"]
            #expect(take?["memo"] == .null && take?["starred"] == .bool(false) && take?["tags"] == .array([]))
        }
    }

    @Test func `a file of the library's own that is damaged hides no take`() throws {
        // The comparison of its sound writes that file.
        while try kit.phone.get("/api/takes/\(stem)").json?["take"]?["sound"] == .null { usleep(20_000) }
        try Data("garbage".utf8).write(to: URL(filePath: "\(kit.folder)/library/takes/\(stem).json"))
        let shown = try kit.phone.get("/api/takes/\(stem)")
        #expect(shown.status == 200)
        #expect(shown.json?["problem"]?.text?.hasPrefix("notes: \(kit.folder)/library/takes/\(stem).json") == true)
        for path in ["clip?from=0&to=100", "waveform.dat", "files/\(stem).wav"] {
            #expect(try kit.phone.get("/api/takes/\(stem)/\(path)").status == 200, "\(path)")
        }
        #expect(try kit.phone.get("/api/archive?take=\(stem)&take=\(stem)").status == 200)
    }

    @Test(arguments: ["wav", "dat"]) func `a folder or a pipe in the place of a file is refused`(_ ending: String)
        throws
    {
        let folder = try #require(try kit.phone.get("/api/takes/\(stem)").json?["take"]?["folder"]?.text)
        let file = "\(folder)/\(stem).\(ending)"
        for make in [{ mkdir(file, 0o755) }, { mkfifo(file, 0o644) }] {
            rename(file, file + ".away")
            #expect(make() == 0)
            let answer = try kit.phone.get("/api/takes/\(stem)/files/\(stem).\(ending)")
            #expect(answer.status == 404)
            #expect(answer.detail?.isEmpty == false)
            // An archive leaves the file out, and names it if it is sound.
            let archive = try kit.phone.get("/api/archive?take=\(stem)")
            #expect(archive.status == 200)
            #expect(archive.body.contains("\(stem).damaged.txt") == (ending == "wav"))
            #expect(remove(file) == 0)
        }
        #expect(try kit.phone.get("/api/status").status == 200)
    }

    @Test func `a take that is deleted is gone from the disk`() throws {
        let folder = try #require(try kit.phone.get("/api/takes/\(stem)").json?["take"]?["folder"]?.text)
        #expect(try kit.phone.delete("/api/takes/\(stem)?where=nowhere").status == 400)
        #expect(try kit.phone.delete("/api/takes/\(stem)?where=here").status == 204)
        #expect(!FileManager.default.fileExists(atPath: "\(folder)/\(stem).wav"))
        #expect(try kit.phone.delete("/api/takes/\(stem)?where=here").status == 404)
    }

    @Test func `a file that is cut while a browser receives it ends the connection`() throws {
        let folder = try #require(try kit.phone.get("/api/takes/\(stem)").json?["take"]?["folder"]?.text)
        let sound = "\(folder)/\(stem).wav"
        #expect(truncate(sound, 400 << 20) == 0)
        let received = "\(kit.folder)/received"
        let process = Process()
        process.executableURL = URL(filePath: OtherProgram.curl.path)
        process.arguments = [
            "--silent", "--limit-rate", "2M", "-o", received, "-H", "Cookie: fieldfare=\(kit.token)",
            "http://127.0.0.1:\(kit.library.port)/api/takes/\(stem)/files/\(stem).wav",
        ]
        try process.run()
        while (try? FileManager.default.attributesOfItem(atPath: received)[.size] as? Int) ?? 0 == 0 { usleep(20_000) }
        #expect(truncate(sound, 4096) == 0)
        process.waitUntilExit()
        #expect(process.terminationStatus == 18)
        #expect(try kit.phone.get("/api/takes/\(stem)/files/\(stem).wav").bytes.count == 4096)
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
