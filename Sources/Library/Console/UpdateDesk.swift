import Control
import Files
import HTTPTypes
import Transport

/// Updates of a kit's image, sent by browsers. The library receives the file, and a unit of the kit verifies and
/// applies it.
struct UpdateDesk: Sendable {
    /// The folder for the received file, for the unit kit-update-sent. It belongs to the library and need not exist.
    let folder: String
    /// The folder of the kit's reports. It exists if Fieldfare runs from a kit's image.
    let kitFolder: String
    /// A file that exists while an update is on trial.
    let trialMark: String
    /// The storage to leave for takes, in bytes.
    let reservedBytes: Int64
    private let files = FileSystem()
    private let turn = Turn("update: another browser is sending one: try again in a minute")

    init(folder: String, kitFolder: String, trialMark: String, reservedBytes: Int64) {
        self.folder = folder
        self.kitFolder = kitFolder
        self.trialMark = trialMark
        self.reservedBytes = reservedBytes
    }

    /// The limit of deploy/kit/update.
    static let mostBytes: Int64 = 256 << 20
    private static let longestName = 100

    /// The kit's current update state.
    enum State: String, Encodable {
        /// It has no image that could be updated.
        case unavailable
        case idle
        /// An update is being verified and unpacked.
        case checking
        /// An update was refused or prepared. Recording and playback are blocked until the kit or its recorder
        /// restarts.
        case waiting
        /// An update is in its first two minutes.
        case trial
    }

    /// The answer for a browser.
    struct Reply: Encodable, Equatable {
        var state: State
        /// The kit's reports about the updates found since it started, in order.
        var report: [Line]

        struct Line: Encodable, Equatable {
            var isGood: Bool
            var text: String

            enum CodingKeys: String, CodingKey {
                case isGood = "good"
                case text
            }
        }
    }

    /// The current state, and the report of the last update.
    func reply() -> Reply {
        let report = (try? files.contents("\(kitFolder)/report.update", limit: 64 << 10)) ?? []
        let lines = String(decoding: report, as: UTF8.self).split(separator: "\n").compactMap { line -> Reply.Line? in
            let parts = line.split(separator: " ", maxSplits: 1)
            guard parts.count == 2 else { return nil }
            return Reply.Line(isGood: parts[0] == "good", text: String(parts[1]))
        }
        return Reply(state: state, report: lines)
    }

    private var state: State {
        guard isThere(kitFolder) else { return .unavailable }
        if isThere(trialMark) { return .trial }
        if let text = try? files.contents("\(kitFolder)/update", limit: 64) {
            return text.starts(with: "waiting".utf8) ? .waiting : .checking
        }
        let sent = (try? files.entries(folder)) ?? []
        return sent.contains { $0.hasSuffix(".update") } ? .checking : .idle
    }

    private func isThere(_ path: String) -> Bool { (try? files.attributes(path)) != nil }

    /// Runs `body` for one browser at a time.
    func one<Result>(_ body: () async throws -> Result) async throws -> Result { try await turn.take(body) }

    /// Begins to receive a file.
    /// - Parameters:
    ///   - name: the file name in the browser.
    ///   - byteCount: its length, or nil if the browser does not state it.
    /// - Throws: `Problem` if the kit accepts no update now, the name is not allowed, the file is too long, or the
    ///   storage lacks space.
    func begin(_ name: String, byteCount: Int64?) throws(Problem) -> Upload {
        switch state {
        case .idle: break
        case .unavailable: throw Problem(.updateUnavailable)
        case .checking, .waiting: throw Problem(.updateInProgress)
        case .trial: throw Problem(.updateOnTrial)
        }
        guard Self.isName(name) else { throw Problem(.updateName(String(name.prefix(Self.longestName)))) }
        if let byteCount { try checkLength(name, byteCount) }
        let free: Int64
        do throws(FileError) {
            try files.makeEmptyFolder(folder)
            free = max(0, try files.freeBytes(folder) - reservedBytes)
        } catch {
            throw Self.problem(error)
        }
        if let byteCount, byteCount > free {
            throw Problem(.updateWithoutRoom(name: name, mebibytes: byteCount >> 20, free: free >> 20))
        }
        let part = "\(folder)/received.part"
        do throws(FileError) {
            return Upload(desk: self, name: name, part: part, file: try files.create(part, isNew: true, mode: 0o640))
        } catch {
            throw Self.problem(error)
        }
    }

    /// The form that deploy/kit/update requires: not a path, and nothing that a program may interpret otherwise.
    private static func isName(_ name: String) -> Bool {
        name.utf8.count <= longestName && name.hasSuffix(".update") && name.first.map(isPlain) == true
            && name.allSatisfy { isPlain($0) || ".+~_-".contains($0) }
    }

    private static func isPlain(_ character: Character) -> Bool {
        character.isASCII && (character.isLetter || character.isNumber)
    }

    fileprivate func checkLength(_ name: String, _ byteCount: Int64) throws(Problem) {
        guard byteCount <= Self.mostBytes else { throw Problem(.updateTooLong(name: name)) }
    }

    fileprivate static func problem(_ error: FileError) -> Problem {
        Problem(.updateFailed(fact: error.fact))
    }

    struct Upload {
        fileprivate let desk: UpdateDesk
        fileprivate let name: String
        fileprivate let part: String
        fileprivate let file: OpenFile
        private var byteCount: Int64 = 0
        private var synced: Int64 = 0
        private static let mostUnsynced: Int64 = 4 << 20

        fileprivate init(desk: UpdateDesk, name: String, part: String, file: OpenFile) {
            self.desk = desk
            self.name = name
            self.part = part
            self.file = file
        }

        /// Appends received bytes.
        /// - Throws: `Problem` if the file becomes too long, or the storage fails.
        mutating func append(_ bytes: [UInt8]) throws(Problem) {
            try desk.checkLength(name, byteCount + Int64(bytes.count))
            do throws(FileError) {
                try desk.files.write(bytes, to: file, at: byteCount)
                byteCount += Int64(bytes.count)
                // Frequent syncs keep a sync of the recorder from waiting for the whole file.
                if byteCount - synced >= Self.mostUnsynced {
                    try desk.files.syncData(file)
                    synced = byteCount
                }
            } catch {
                throw UpdateDesk.problem(error)
            }
        }

        /// Renames the file once it is on the disk, which starts the kit's update.
        func finish() throws(Problem) {
            do throws(FileError) {
                try desk.files.sync(file)
                try desk.files.move(part, to: "\(desk.folder)/\(name)")
            } catch {
                throw UpdateDesk.problem(error)
            }
        }

        /// Removes an incomplete file.
        func giveUp() { try? desk.files.remove(part) }
    }
}
