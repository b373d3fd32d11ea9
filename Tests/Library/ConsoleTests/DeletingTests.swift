import Control
import DiskCalls
import Foundation
import OtherPrograms
import StoreTrials
import TakePlaces
import Testing

@Suite(.waitsOnNamedThreads, .serialized, .fewKitsAtATime, .timeLimit(.minutes(15)), .needs(.curl))
struct DeletingTests {
    private let kit: RunningKit

    init() throws { kit = try RunningKit(sends: true) }

    /// Records a take, and waits until it is in the store.
    private func send(seconds: Int = 0) throws -> String {
        let stem = try kit.record(note: "wren", seconds: seconds)
        while try kit.phone.get("/api/takes/\(stem)").json?["take"]?["upload"]?.text != "done" { usleep(20_000) }
        #expect(try !files(of: stem, in: kit.home).isEmpty)
        return stem
    }

    private func files(of stem: String, in folder: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: folder).filter { $0.isFile(of: stem) }
    }

    /// The folder of the take's day.
    private func day(of stem: String) throws -> Substring {
        try #require(try files(of: stem, in: kit.home).first?.prefix { $0 != "/" })
    }

    @Test func `a take is deleted at home alone, and is not sent again`() throws {
        let stem = try send()
        #expect(try kit.phone.delete("/api/takes/\(stem)?where=there").status == 204)
        #expect(try files(of: stem, in: kit.home) == [])
        #expect(try files(of: stem, in: "\(kit.folder)/takes").count == 3)
        #expect(try kit.phone.get("/api/takes/\(stem)").json?["take"]?["upload"] == .null)
        // Later notes of a person do not send it again; only an explicit request does.
        _ = try kit.phone.patch("/api/takes/\(stem)", #"{"memo":"at the weir"}"#)
        #expect(try kit.phone.get("/api/takes?upload=none").body.contains(stem))
        #expect(try kit.phone.post("/api/takes/\(stem)/outbox", #"{"do":"add"}"#).status == 200)
        while try kit.phone.get("/api/takes/\(stem)").json?["take"]?["upload"]?.text != "done" { usleep(20_000) }
        #expect(try files(of: stem, in: kit.home).contains { $0.hasSuffix(".wav") })
    }

    @Test func `a take that is deleted on the kit is in the bin, and is restored with its notes`() throws {
        let stem = try kit.record(note: "wren", seconds: 0)
        _ = try kit.phone.patch("/api/takes/\(stem)", #"{"memo":"at the weir"}"#)
        #expect(try kit.phone.delete("/api/takes/\(stem)?where=here&now=perhaps").status == 400)
        #expect(try kit.phone.delete("/api/takes/\(stem)?where=here").status == 204)
        while try kit.phone.get("/api/takes/\(stem)").status != 404 { usleep(20_000) }
        #expect(try files(of: stem, in: "\(kit.folder)/takes").allSatisfy { $0.hasPrefix(".bin/") })
        #expect(try kit.phone.get("/api/bin").body.contains(stem))
        #expect(try kit.phone.post("/api/takes/\(stem)/restore", "{}").status == 204)
        while try kit.phone.get("/api/takes/\(stem)").status != 200 { usleep(20_000) }
        #expect(try kit.phone.get("/api/takes/\(stem)").json?["take"]?["memo"]?.text == "at the weir")
        #expect(try files(of: stem, in: "\(kit.folder)/takes").count == 3)
        #expect(try kit.phone.post("/api/takes/\(stem)/restore", "{}").status == 404)
        #expect(try kit.phone.delete("/api/takes/\(stem)?where=here&now=true").status == 204)
        #expect(try files(of: stem, in: "\(kit.folder)/takes") == [])
        #expect(try kit.phone.post("/api/takes/\(stem)/restore", "{}").status == 404)
    }

    @Test func `a take is deleted on the kit and at home`() throws {
        let (stem, other) = (try send(), try send())
        #expect(try kit.phone.delete("/api/takes/\(stem)?where=both").status == 204)
        let left = try files(of: stem, in: kit.folder).filter { !$0.hasPrefix("library/") }
        #expect(left.allSatisfy { $0.hasPrefix("takes/.bin/") } && !left.isEmpty)
        #expect(try kit.phone.get("/api/takes/\(stem)").status == 404)
        #expect(try files(of: other, in: kit.home).contains { $0.hasSuffix(".wav") })
        #expect(try kit.phone.get("/api/takes/\(other)").json?["take"]?["upload"]?.text == "done")
    }

    @Test func `a take stays on the kit while the home cannot be reached`() throws {
        let stem = try send()
        try FileManager.default.moveItem(atPath: kit.home, toPath: kit.home + ".away")
        for _ in 0..<2 {
            let answer = try kit.phone.delete("/api/takes/\(stem)?where=both")
            #expect(answer.status == 409, "\(answer.status)")
            #expect(answer.detail == "outbox: \(kit.home): not there: insert the stick, or mount the share")
            #expect(try files(of: stem, in: "\(kit.folder)/takes").count == 3)
        }
        // No network would bring a folder back, so its receipt is not trusted.
        #expect(try kit.phone.delete("/api/takes/\(stem)?where=here&left=home").status == 409)
        #expect(try files(of: stem, in: "\(kit.folder)/takes").count == 3)
        try FileManager.default.moveItem(atPath: kit.home + ".away", toPath: kit.home)
        #expect(try kit.phone.delete("/api/takes/\(stem)?where=both").status == 204)
        #expect(try files(of: stem, in: kit.home) == [])
    }

    @Test func `what a deletion that failed halfway has left at home is deleted by the next`() throws {
        let stem = try send()
        let sound = try #require(try files(of: stem, in: kit.home).first { $0.hasSuffix(".wav") })
        // A folder in place of a memo cannot be removed as a file. The sound comes after it.
        let memo = "\(kit.home)/\(sound.dropLast(4)).txt"
        try FileManager.default.createDirectory(atPath: memo + "/in", withIntermediateDirectories: true)
        #expect(try kit.phone.delete("/api/takes/\(stem)?where=both").status >= 400)
        #expect(try files(of: stem, in: "\(kit.folder)/takes").count == 3)
        #expect(FileManager.default.fileExists(atPath: "\(kit.home)/\(sound)"))
        #expect(!FileManager.default.fileExists(atPath: "\(kit.home)/\(sound.dropLast(4)).json"))
        #expect(try kit.phone.get("/api/takes/\(stem)").json?["take"]?["upload"] == .null)
        try FileManager.default.removeItem(atPath: memo)
        #expect(try kit.phone.delete("/api/takes/\(stem)?where=both").status == 204)
        #expect(try files(of: stem, in: kit.home) == [])
        #expect(try kit.phone.get("/api/takes/\(stem)").status == 404)
    }

    @Test func `what the kit would refuse is refused before anything is deleted at home`() throws {
        // Long enough that it is still played when the deletion is asked for.
        let stem = try send(seconds: 8)
        #expect(try kit.phone.post("/api/deck/play", "{\"take\":\"\(stem)\"}").status == 200)
        #expect(try kit.phone.delete("/api/takes/\(stem)?where=both").status == 409)
        _ = try kit.phone.post("/api/deck/stop")
        kit.stopRecorder()
        #expect(try kit.phone.delete("/api/takes/\(stem)?where=both").status == 503)
        #expect(try files(of: stem, in: kit.home).count == 3)
        #expect(try kit.phone.get("/api/takes/\(stem)").json?["take"]?["upload"]?.text == "done")
    }

    @Test func `nothing is deleted at home while the recorder keeps its takes in another folder`() throws {
        let stem = try send()
        kit.stopRecorder()
        try kit.startRecorder(takes: "elsewhere")
        let answer = try kit.phone.delete("/api/takes/\(stem)?where=both")
        #expect(answer.status == 409)
        #expect(answer.detail?.hasSuffix("the recorder has its takes elsewhere: nothing is deleted") == true)
        #expect(try files(of: stem, in: kit.home).count == 3 && files(of: stem, in: "\(kit.folder)/takes").count == 3)
    }

    @Test func `a take that another phone has deleted on the kit keeps its copy at home`() throws {
        let stem = try send()
        let folder = try #require(try kit.phone.get("/api/takes/\(stem)").json?["take"]?["folder"]?.text)
        // The state that the recorder leaves, before the catalog knows of it.
        for file in try files(of: stem, in: folder) { try FileManager.default.removeItem(atPath: "\(folder)/\(file)") }
        let answer = try kit.phone.delete("/api/takes/\(stem)?where=there")
        #expect(answer.status == 404)
        #expect(try files(of: stem, in: kit.home).count == 3)
    }

    @Test func `the copy at home is kept while that on the kit is not whole`() throws {
        let stem = try send()
        let folder = try #require(try kit.phone.get("/api/takes/\(stem)").json?["take"]?["folder"]?.text)
        let sound = "\(folder)/\(stem).wav"
        let bytes = try Data(contentsOf: URL(filePath: sound))
        let there = "/api/takes/\(stem)?where=there"
        // Truncated; the same length with other sound; missing.
        for damage in [Data(bytes.prefix(44)), Data(repeating: 7, count: bytes.count), nil] {
            if let damage {
                try damage.write(to: URL(filePath: sound))
            } else {
                try FileManager.default.removeItem(atPath: sound)
            }
            #expect(try kit.phone.delete(there).status == 500)
            #expect(try files(of: stem, in: kit.home).count == 3)
        }
        // The restored file is another file with the sent content.
        try bytes.write(to: URL(filePath: sound))
        #expect(try kit.phone.delete(there).status == 204)
        #expect(try files(of: stem, in: kit.home) == [])
        #expect(try files(of: stem, in: folder).count == 3)
    }

    @Test func `a take is deleted because it is safe at home only while it is`() throws {
        let stem = try send()
        let safely = "/api/takes/\(stem)?where=here&left=home"
        #expect(try kit.phone.delete("/api/takes/\(stem)?where=there").status == 204)
        let answer = try kit.phone.delete(safely)
        #expect(answer.status == 409)
        #expect(answer.detail == "delete: \(stem): it is not safe at home any more: look at it again")
        #expect(try files(of: stem, in: "\(kit.folder)/takes").count == 3)
        _ = try kit.phone.post("/api/takes/\(stem)/outbox", #"{"do":"add"}"#)
        while try kit.phone.get("/api/takes/\(stem)").json?["take"]?["upload"]?.text != "done" { usleep(20_000) }
        #expect(try kit.phone.delete(safely).status == 204)
        #expect(try files(of: stem, in: kit.home).count == 3)
    }

    @Test func `safe at home is what is at home now, and what the kit compares`() throws {
        let stem = try send()
        let safely = "/api/takes/\(stem)?where=here&left=home"
        let sound = "\(kit.home)/\(try #require(try files(of: stem, in: kit.home).first { $0.hasSuffix(".wav") }))"
        let bytes = try Data(contentsOf: URL(filePath: sound))
        for damage in [Data(bytes.prefix(44)), nil] {
            if let damage {
                try damage.write(to: URL(filePath: sound))
            } else {
                try FileManager.default.removeItem(atPath: sound)
            }
            #expect(try kit.phone.delete(safely).status == 409)
            // A deletion of the copy in the store is refused, too.
            #expect(try kit.phone.delete("/api/takes/\(stem)?where=there").status == 409)
        }
        #expect(try files(of: stem, in: "\(kit.folder)/takes").count == 3)
        try bytes.write(to: URL(filePath: sound))
        #expect(try kit.phone.delete(safely).status == 204)
        #expect(try Data(contentsOf: URL(filePath: sound)) == bytes)
    }

    @Test func `a home that cannot be asked may have a take that no receipt names`() throws {
        try FileManager.default.moveItem(atPath: kit.home, toPath: kit.home + ".away")
        let stem = try kit.record()
        let answer = try kit.phone.delete("/api/takes/\(stem)?where=both")
        #expect(answer.status == 409)
        #expect(
            answer.detail?.hasSuffix("whether it has the take is not known: or delete the take on the kit alone")
                == true)
        #expect(try files(of: stem, in: "\(kit.folder)/takes").count == 3)
        #expect(try kit.phone.delete("/api/takes/\(stem)?where=here&now=true").status == 204)
        #expect(try files(of: stem, in: "\(kit.folder)/takes") == [])
    }

    @Test func `a longer state at home that no receipt names is not deleted for the kit's`() throws {
        let away = kit.home + ".away"
        try FileManager.default.moveItem(atPath: kit.home, toPath: away)
        let stem = try kit.record()
        let folder = try #require(try kit.phone.get("/api/takes/\(stem)").json?["take"]?["folder"]?.text)
        let day = "\(away)/\(URL(filePath: folder).lastPathComponent)"
        try FileManager.default.createDirectory(atPath: day, withIntermediateDirectories: true)
        let sidecar = try String(contentsOfFile: "\(folder)/\(stem).json", encoding: .utf8)
        let later = sidecar.replacing(/"revision" : \d+/, with: "\"revision\" : 7")
        #expect(later != sidecar)
        try later.write(toFile: "\(day)/\(stem).json", atomically: false, encoding: .utf8)
        let sound = try Data(contentsOf: URL(filePath: "\(folder)/\(stem).wav"))
        try (sound + sound).write(to: URL(filePath: "\(day)/\(stem).wav"))
        try FileManager.default.moveItem(atPath: away, toPath: kit.home)
        let answer = try kit.phone.delete("/api/takes/\(stem)?where=there")
        #expect(answer.status == 409, "\(answer.body)")
        #expect(
            try Data(contentsOf: URL(filePath: day.replacing(away, with: kit.home) + "/\(stem).wav")) == sound + sound)
    }

    @Test func `another recording of that name at home is not this take, and stays`() throws {
        let stem = try send()
        let name = try #require(try files(of: stem, in: kit.home).first { $0.hasSuffix(".json") })
        let sidecar = "\(kit.home)/\(name)"
        let ours = try String(contentsOfFile: sidecar, encoding: .utf8)
        let theirs = ours.replacingOccurrences(of: "\"boot_id\" : \"", with: "\"boot_id\" : \"0")
        #expect(theirs != ours)
        // A sidecar of another kit; a damaged one; one of this take that differs from the sent one.
        for other in [theirs, "{}", ours + " "] {
            try other.write(toFile: sidecar, atomically: false, encoding: .utf8)
            #expect(try kit.phone.delete("/api/takes/\(stem)?where=here&left=home").status == 409)
            #expect(try files(of: stem, in: kit.home).count == 3)
            guard other != ours + " " else { continue }
            for place in ["there", "both"] {
                let answer = try kit.phone.delete("/api/takes/\(stem)?where=\(place)")
                #expect(answer.status == 409)
                #expect(answer.detail?.contains(" is of another recording, or damaged: ") == true)
                #expect(try files(of: stem, in: kit.home).count == 3)
            }
        }
        #expect(try files(of: stem, in: "\(kit.folder)/takes").count == 3)
    }

    @Test func `a home that answers with an error does not have the take`() throws {
        let stem = try send()
        let day = try "\(kit.home)/\(day(of: stem))"
        try FileManager.default.moveItem(atPath: day, toPath: kit.folder + "/hidden")
        try Data().write(to: URL(filePath: day))
        #expect(try kit.phone.delete("/api/takes/\(stem)?where=here&left=home").status == 409)
        try FileManager.default.removeItem(atPath: day)
        try FileManager.default.createSymbolicLink(atPath: day, withDestinationPath: kit.folder + "/nowhere")
        #expect(try kit.phone.delete("/api/takes/\(stem)?where=here&left=home").status == 409)
        #expect(try files(of: stem, in: "\(kit.folder)/takes").count == 3)
    }

    @Test func `the kit's copy is read before it is the last one: its time of change proves nothing`() throws {
        let stem = try send()
        let folder = try #require(try kit.phone.get("/api/takes/\(stem)").json?["take"]?["folder"]?.text)
        let sound = "\(folder)/\(stem).wav"
        let before = try FileManager.default.attributesOfItem(atPath: sound)[.modificationDate]
        var stamp = stat()
        #expect(stat(sound, &stamp) == 0)
        let file = try FileHandle(forUpdating: URL(filePath: sound))
        try file.seek(toOffset: 100)
        try file.write(contentsOf: Data(repeating: 9, count: 9))
        try file.close()
        var times = [stamp.st_mtim, stamp.st_mtim]
        #expect(utimensat(AT_FDCWD, sound, &times, 0) == 0)
        #expect(try FileManager.default.attributesOfItem(atPath: sound)[.modificationDate] as? Date == before as? Date)
        #expect(try kit.phone.delete("/api/takes/\(stem)?where=there").status == 500)
        #expect(try files(of: stem, in: kit.home).count == 3)
    }

    @Test func `a day's folder that is a link to home is not the kit's copy`() throws {
        let stem = try send()
        let folder = try #require(try kit.phone.get("/api/takes/\(stem)").json?["take"]?["folder"]?.text)
        try FileManager.default.moveItem(atPath: folder, toPath: kit.folder + "/hidden")
        try FileManager.default.createSymbolicLink(
            atPath: folder, withDestinationPath: "\(kit.home)/\(folder.suffix(10))")
        #expect(try kit.phone.delete("/api/takes/\(stem)?where=here").status >= 400)
        #expect(try files(of: stem, in: kit.home).count == 3)
    }

    @Test(arguments: [true, false]) func `what is a link to home on the kit is not the kit's copy`(isFolder: Bool)
        throws
    {
        let stem = try send()
        let folder = try #require(try kit.phone.get("/api/takes/\(stem)").json?["take"]?["folder"]?.text)
        let linked = isFolder ? folder : "\(folder)/\(stem).wav"
        let atHome = "\(kit.home)/\(folder.suffix(10))" + (isFolder ? "" : "/\(stem).wav")
        try FileManager.default.moveItem(atPath: linked, toPath: kit.folder + "/hidden")
        try FileManager.default.createSymbolicLink(atPath: linked, withDestinationPath: atHome)
        #expect(try kit.phone.delete("/api/takes/\(stem)?where=there").status >= 400)
        #expect(try files(of: stem, in: kit.home).count == 3)
    }

    @Test func `which copies are meant is never guessed`() throws {
        let stem = try send()
        for query in ["", "?were=there", "?where=here&where=there", "?where=here&left=kit"] {
            #expect(try kit.phone.delete("/api/takes/\(stem)\(query)").status == 400, "\(query)")
        }
        #expect(try kit.phone.delete("/api/takes/\(stem)?where=both&left=home").status == 409)
        #expect(try files(of: stem, in: kit.home).count == 3)
        #expect(try files(of: stem, in: "\(kit.folder)/takes").count == 3)
    }

    @Test func `a home that has no such take any more is no reason to delete the kit's, nor is an empty one`() throws {
        let stem = try send()
        for whole in [false, true] {
            let hidden = whole ? kit.home : try "\(kit.home)/\(day(of: stem))"
            try FileManager.default.moveItem(atPath: hidden, toPath: kit.folder + "/hidden")
            if whole { try FileManager.default.createDirectory(atPath: kit.home, withIntermediateDirectories: true) }
            let answer = try kit.phone.delete("/api/takes/\(stem)?where=both")
            #expect(answer.status == 409)
            #expect(answer.detail?.contains(", though it was sent there") == true)
            #expect(try files(of: stem, in: "\(kit.folder)/takes").count == 3)
            if whole { try FileManager.default.removeItem(atPath: kit.home) }
            try FileManager.default.moveItem(atPath: kit.folder + "/hidden", toPath: hidden)
        }
        #expect(try kit.phone.delete("/api/takes/\(stem)?where=both").status == 204)
    }

    @Test func `what was begun at home goes with the take, and a link there is none of its files`() throws {
        let stem = try send()
        let sound = try #require(try files(of: stem, in: kit.home).first { $0.hasSuffix(".wav") })
        let draft = try "\(kit.home)/\(day(of: stem))/.\(stem).wav.0123abcd.part"
        try Data(count: 9).write(to: URL(filePath: draft))
        #expect(try kit.phone.delete("/api/takes/\(stem)?where=there").status == 204)
        #expect(!FileManager.default.fileExists(atPath: draft))
        let own = try #require(try files(of: stem, in: "\(kit.folder)/takes").first { $0.hasSuffix(".wav") })
        try FileManager.default.createSymbolicLink(
            atPath: "\(kit.home)/\(sound)", withDestinationPath: "\(kit.folder)/takes/\(own)")
        _ = try kit.phone.post("/api/takes/\(stem)/outbox", #"{"do":"add"}"#)
        while try kit.phone.get("/api/takes/\(stem)").json?["take"]?["upload"]?.text != "held" { usleep(20_000) }
        #expect(try files(of: stem, in: "\(kit.folder)/takes").count == 3)
    }

    /// Two phones delete a take at once. Prints the statuses.
    private static let pair = """
        import concurrent.futures, http.client, sys, time
        port, token, stem = int(sys.argv[1]), sys.argv[2], sys.argv[3]
        def delete(where, after):
            time.sleep(after)
            while True:
                c = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
                c.request("DELETE", f"/api/takes/{stem}?where={where}", headers={"Cookie": "fieldfare=" + token})
                answer = c.getresponse()
                # Its sender may not have let go of it yet.
                if b"it is being sent" not in answer.read():
                    return answer.status
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            asked = [pool.submit(delete, sys.argv[4], 0), pool.submit(delete, sys.argv[5], float(sys.argv[6]) / 1000)]
            print(*(one.result() for one in asked))
        """

    @Test(
        .needsServers,
        arguments: [("here", "both"), ("here", "there"), ("both", "here"), ("both", "both"), ("there", "here")])
    func `two phones that delete a take at once leave no half of it`(
        _ first: String, _ second: String
    ) throws {
        for milliseconds in ["0", "2", "5"] {
            let stem = try send()
            let statuses = try TestServer.python(
                Self.pair, [String(kit.library.port), kit.token, stem, first, second, milliseconds])
            #expect(statuses.split(separator: " ").allSatisfy { ["204", "404", "409"].contains($0) }, "\(statuses)")
            #expect(statuses.contains("204"))
            let home = try files(of: stem, in: kit.home).count
            let own = try files(of: stem, in: "\(kit.folder)/takes").filter { !$0.hasPrefix(".bin/") }.count
            #expect(
                [0, 3].contains(home) && [0, 3].contains(own), "\(first), \(second): \(statuses): \(home), \(own)")
            // Once it is deleted on the kit, the copy in the store is the last one.
            if (first, second) == ("here", "there") { #expect(home + own > 0, "\(statuses)") }
        }
    }
}
