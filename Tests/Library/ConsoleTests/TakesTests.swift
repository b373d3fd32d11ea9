import Control
import DiskCalls
import Foundation
import OtherPrograms
import StoreTrials
import Testing

@Suite(.waitsOnNamedThreads, .serialized, .fewKitsAtATime, .timeLimit(.minutes(15)), .needs(.curl)) struct TakesTests {
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

    @Test func `a take is sent as MP3 if MP3 has its rate, and refused in a sentence if not`() throws {
        let take = try #require(try kit.phone.get("/api/takes/\(stem)").json?["take"])
        let rates = [8000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000]
        let hasRate = rates.contains(try #require(take["rate_hz"]?.integer))
        let answer = try kit.phone.get("/api/takes/\(stem)/sound.mp3")
        // A libsndfile of version 1.0 writes none.
        guard answer.status != 501 else {
            #expect(answer.detail?.hasPrefix("mp3: libsndfile writes no MP3 here: ") == true)
            return
        }
        #expect(answer.status == (hasRate ? 200 : 422))
        guard hasRate else { return }
        #expect(answer.headers["content-type"] == "audio/mpeg" && answer.headers["content-length"] == nil)
        #expect(answer.headers["content-disposition"] == "attachment; filename=\"\(stem).mp3\"")
        #expect(answer.bytes.prefix(2) == Data([0xff, 0xfb]) || answer.bytes.prefix(2) == Data([0xff, 0xf3]))
        let clip = try kit.phone.get("/api/takes/\(stem)/sound.mp3?from=10&to=2000")
        #expect(clip.headers["content-disposition"] == "attachment; filename=\"\(stem)-10-2000.mp3\"")
        #expect(try kit.phone.get("/api/takes/\(stem)/sound.mp3?from=5&to=5").status == 400)
        #expect(try kit.phone.get("/api/takes/heron07-9999_20261121_061811/sound.mp3").status == 404)
    }

    @Test func `a list is sorted, searched as a person types, and counted`() throws {
        func list(_ query: String) throws -> (takes: [JSONValue], page: JSONValue) {
            let page = try #require(try kit.phone.get("/api/takes?\(query)").json)
            guard case .array(let takes)? = page["takes"] else { return ([], page) }
            return (takes, page)
        }
        let found = try list("sort=loudest&q=wren&hour_from=0&hour_to=24&zone=UTC&longer=0&shorter=1000&label=WR")
        let take = try #require(found.takes.first)
        #expect(found.page["total"] == .integer(1))
        #expect(abs((found.page["total_seconds"]?.double ?? 0) - (take["duration_seconds"]?.double ?? 1)) < 1e-6)
        #expect(take["match"]?["note"] == .string("wren") && take["match"]?["at_frame"]?.integer != nil)
        #expect(take["span_seconds"]?.double == take["duration_seconds"]?.double)
        let peak = try #require(take["peak_dbfs"]?.double)
        #expect(try list("louder=\(peak - 1)").takes.count == 1)
        #expect(try list("louder=\(peak + 1)").takes.isEmpty)
        #expect(try list("q=1").takes.count == 1)
        let none = try list("q=99")
        #expect(none.takes.isEmpty && none.page["total"] == .integer(0) && none.page["total_seconds"] == .integer(0))
        #expect(try list("q=today&limit=1").takes.count == 1)
        for (query, sentence) in [
            ("sort=loud", "takes: sort: found \"loud\", allowed is one of"),
            ("sort=newest&order=size", "takes: sort and order exclude each other"),
            ("zone=Mars", "takes: zone: found \"Mars\", allowed is a time zone such as \"Europe/Berlin\""),
            ("hour_from=24.5", "takes: hour_from: found 24.5, allowed is an hour of the day from 0 to 24"),
        ] {
            let answer = try kit.phone.get("/api/takes?\(query)")
            #expect(answer.status == 400 && answer.detail?.hasPrefix(sentence) == true, "\(query): \(answer.body)")
        }
    }

    @Test func `a title is written, moves from the memo, is found and removed`() throws {
        let path = "/api/takes/\(stem)"
        #expect(try kit.phone.get(path).json?["take"]?["title"] == nil)
        _ = try kit.phone.patch(path, #"{"memo":"Dawn at the weir\nwith an owl"}"#)
        let set = try kit.phone.patch(path, #"{"title":" Dawn at the weir "}"#).json?["take"]
        #expect(set?["title"] == .string("Dawn at the weir") && set?["memo"] == .string("with an owl"))
        #expect(try kit.phone.get(path).json?["notes"]?["title"] == .string("Dawn at the weir"))
        guard case .array(let takes)? = try kit.phone.get("/api/takes?text=weir").json?["takes"] else { return }
        #expect(takes.map { $0["title"] } == [.string("Dawn at the weir")])
        let two = try kit.phone.patch(path, #"{"title":"one\ntwo"}"#)
        #expect(two.status == 400)
        #expect(
            two.detail
                == #"title: title: found "one\ntwo", allowed is a text of at most 200 characters on one line, or null"#)
        for json in [#"{"title":""}"#, #"{"title":null}"#] {
            #expect(try kit.phone.patch(path, json).json?["take"]?["title"] == nil)
        }
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
            (#"{"memo":"owl","starred":true,"markers":{"set":[{"at_frame":99999999}]}}"#, "lies behind its end"),
            (#"{"memo":"owl","starred":1}"#, "star: starred: found 1, allowed is true or false"),
            (#"{"markers":{"set":[{"at_frame":-1}]}}"#, "set: found"),
            (#"{"markers":{"add":[]}}"#, "set, remove, or both"),
            (#"{"markers":{}}"#, "set and remove are both empty"), (#"{"markers":[]}"#, "set, remove, or both"),
        ] {
            let answer = try kit.phone.patch(path, request)
            #expect(answer.status == 400 && answer.detail?.contains(sentence) == true, "\(request): \(answer.body)")
        }
        let take = try kit.phone.get(path).json?["take"]
        #expect(take?["memo"] == .null && take?["starred"] == .bool(false))
    }

    @Test func `a region of a finished take is set, keeps its band, and is cut in clips`() throws {
        let path = "/api/takes/\(stem)"
        func set(_ keys: String) throws -> (status: Int, detail: String) {
            let answer = try kit.phone.patch(path, #"{"markers":{"set":[{"at_frame":7,\#(keys)}]}}"#)
            return (answer.status, answer.detail ?? "")
        }
        #expect(try set(#""note":"owl","end_frame":40,"low_hz":300.5,"high_hz":900"#).status == 200)
        #expect(try set(#""note":"tawny owl""#).status == 200)
        guard case .array(let markers)? = try kit.phone.get(path).json?["markers"] else { return }
        let region = #"{"at_frame":7,"end_frame":40,"high_hz":900,"low_hz":300.5,"note":"tawny owl"}"#
        #expect(markers.first?.description == region)
        let clip = try kit.phone.get(path + "/clip?from=10&to=20").bytes
        let chunk = Array("ltxt".utf8) + [21, 0, 0, 0, 1, 0, 0, 0, 10, 0, 0, 0] + Array("rgn ".utf8)
        #expect(clip.firstRange(of: Data(chunk)) != nil && clip.firstRange(of: Data("tawny owl".utf8)) != nil)
        for (keys, sentence) in [
            (#""end_frame":7"#, "allowed is a later frame"), (#""end_frame":99999999"#, "the end of the take"),
            (#""end_frame":9,"low_hz":5"#, "high_hz is missing"), (#""low_hz":5,"high_hz":9"#, "end_frame is missing"),
            (#""end_frame":9,"low_hz":9,"high_hz":5"#, "give the lower edge as low_hz"),
            (#""end_frame":9,"low_hz":5,"high_hz":4e6"#, "half the take's rate"),
            (#""end":9"#, #"the key "end" is unknown: allowed are at_frame, note, end_frame, low_hz, high_hz"#),
        ] {
            let (status, detail) = try set(keys)
            #expect(status == 400 && detail.contains(sentence), "\(keys): \(detail)")
        }
        #expect(try set(#""end_frame":null,"note":"owl""#).status == 200)
        guard case .array(let points)? = try kit.phone.get(path).json?["markers"] else { return }
        #expect(points.first?.description == #"{"at_frame":7,"note":"owl"}"#)
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
