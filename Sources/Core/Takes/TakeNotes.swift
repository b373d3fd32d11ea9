/// What the library alone knows of a take, beside its sidecar: the library's own file of the take, `STEM.json`.
///
/// A catalog that is built again reads it from there, so that nothing that a person wrote is forgotten.
public struct TakeNotes: Codable, Equatable, Sendable {
    /// 1. Readers ignore keys that they do not know.
    public var schema = 1
    /// The take's stem.
    public var take: String
    /// What the take's kit is known by. Nil: the take is known by its stem, or an older version wrote this last.
    public var kitID: KitID?
    /// What a person wrote of it; null: nothing.
    @ExplicitNull public var memo: String?
    /// What people wrote in other libraries that there is no room for beside this, as texts; nil: nothing.
    public var otherMemos: [String]?
    /// In the order of the alphabet, each once.
    public var tags: [String] = []
    /// Whether a person marked it as worth keeping.
    public var starred = false
    /// What a person changed of its markers, by frame.
    @EmptyIfMissing public var markers: [MarkerChange]
    /// 1, then higher with each change that a person makes; nil: nobody has since versions that do not count.
    public var revision: Int?
    /// What is known of the notes at home; nil: nothing.
    public var home: HomeNotes?
    /// Which recording the hashes and receipts are of; nil: of the one that has the stem, as earlier versions noted it.
    public var recording: RecordingStart?
    /// What a person decided about its upload; nil: it is sent as soon as it can be.
    public var upload: UploadChoice?
    /// The hashes of its files, by name: none of them changes after the take is finished, but for the peaks of one that goes on.
    @EmptyIfMissing public var hashes: [FileHash]
    /// What each store has of it.
    @EmptyIfMissing public var receipts: [UploadReceipt]
    /// What was found of its sound, by file; nil: it was not compared yet.
    public var sounds: [SoundNote]?

    /// Nothing is noted of the take yet.
    public init(take: String) {
        self.take = take
    }

    enum CodingKeys: String, CodingKey {
        case schema, take, memo, tags, starred, markers, revision, home, upload, hashes, receipts, sounds
        case recording = "origin"
        case otherMemos = "other_memos"
        case kitID = "kit_id"
    }

    /// What a person may decide about the upload of a take.
    public enum UploadChoice: String, Codable, Sendable {
        /// It stays in the outbox, and is not sent.
        case hold
        /// It is not in the outbox.
        case never
    }

    /// The hash of a file of the take.
    public struct FileHash: Codable, Hashable, Sendable {
        /// The file's name.
        public var file: String
        /// How long it was.
        public var bytes: Int64
        /// SHA-256, hexadecimal.
        public var sha256: String
        /// When the file on the kit was written that was hashed, in nanoseconds since 1970; nil: not known, or it is one of a store.
        public var modifiedNs: Int64?
        /// The store's own hash of the file, when it was verified there; nil: it showed none, or this is no file of a store.
        public var mark: String?

        /// The hash of a file.
        public init(file: String, bytes: Int64, sha256: String, modifiedNs: Int64? = nil, mark: String? = nil) {
            self.file = file
            self.bytes = bytes
            self.sha256 = sha256
            self.modifiedNs = modifiedNs
            self.mark = mark
        }

        /// Whether it is the same content of the same file.
        func isSameContent(as other: FileHash) -> Bool { file == other.file && sha256 == other.sha256 }

        enum CodingKeys: String, CodingKey {
            case file, bytes, sha256, mark
            case modifiedNs = "modified_ns"
        }
    }

    /// The receipt of a store; nil: it has nothing.
    public subscript(receiptOf store: String) -> UploadReceipt? {
        get { receipts.first { $0.store == store } }
        set {
            receipts.removeAll { $0.store == store }
            if let newValue { receipts.append(newValue) }
        }
    }

    /// What holds for a recording: hashes and receipts of another one that has the same stem are left out.
    public func of(_ recording: RecordingStart) -> TakeNotes {
        guard let known = self.recording, known != recording else { return self }
        var notes = self
        notes.attribute(to: recording)
        return notes
    }

    /// Has hashes and receipts be those of a recording, from here on.
    public mutating func attribute(to recording: RecordingStart) {
        if let known = self.recording, known != recording {
            hashes = []
            receipts = []
            sounds = nil
            home = nil
        }
        self.recording = recording
    }

    /// Notes the hash of a file on the kit.
    public mutating func setHash(_ hash: FileHash) {
        hashes.removeAll { $0.file == hash.file }
        hashes.append(hash)
    }

    /// Whether it says nothing.
    public var isEmpty: Bool {
        var bare = TakeNotes(take: take)
        bare.kitID = kitID
        return self == bare
    }

    /// The most bytes of a memo.
    public static let longestMemo = 4000
    /// The most bytes of a tag.
    public static let longestTag = 100
    /// The most tags of a take.
    public static let mostTags = 50

    /// Adds tags and takes some away.
    public mutating func tag(adding: [String], removing: [String]) {
        tags = Set(tags).union(adding).subtracting(removing).sorted()
    }

    /// A tag as it is kept: without spaces around it; nil: it is none.
    public static func tag(_ text: String) -> String? {
        let tag = text.drop(while: \.isWhitespace)
        let end = tag.lastIndex { !$0.isWhitespace }
        guard let end else { return nil }
        let found = String(tag[...end])
        return found.utf8.count <= longestTag && !found.contains(where: \.isNewline) ? found : nil
    }
}

/// What a store has of a take, verified by hash unless `unverified` says otherwise.
public struct UploadReceipt: Codable, Hashable, Sendable {
    /// The store's name.
    public var store: String
    /// Of a store that is whichever stick is in: the mark of that stick; nil: another kind of store, or an earlier version noted none.
    public var stick: String?
    /// When it was complete there: ISO 8601, UTC; null: it is not yet.
    @ExplicitNull public var completed: String?
    /// The revision of the sidecar that is there; null: none is.
    @ExplicitNull public var revision: Int?
    /// The files that are there.
    public var files: [TakeNotes.FileHash] = []
    /// What was begun to be sent under names that may be replaced, and may be there: no answer has come. nil: nothing.
    public var attempts: [TakeNotes.FileHash]?
    /// The revision of what people noted that is there; nil: not known, or nothing is noted.
    public var notesRevision: Int?
    /// What was sent, and could not be compared with what arrived; nil: all was. While it is set, `completed` is null, so that no version
    /// of the library counts the take as safe.
    public var unverified: Unverified?

    /// Files that a store took without showing what arrived.
    public struct Unverified: Codable, Hashable, Sendable {
        /// One sentence.
        public var why: String
        /// Their names.
        public var files: [String]
        /// When all of the take was sent: ISO 8601, UTC; nil: it was not yet.
        public var sent: String?

        /// Files that could not be compared.
        public init(why: String, files: [String] = []) {
            self.why = why
            self.files = files
        }
    }

    /// Nothing is there yet.
    public init(store: String) { self.store = store }

    /// The hash of a file that is there.
    public func sha256(of file: String) -> String? { files.first { $0.file == file }?.sha256 }

    /// The hashes of what may be there of a file, though no answer has come.
    public func attempts(of file: String) -> [String] { (attempts ?? []).filter { $0.file == file }.map(\.sha256) }

    /// More attempts of one file without an answer are not kept.
    private static let mostAttempts = 8

    /// Notes that a file is begun to be sent.
    public mutating func attempt(_ file: TakeNotes.FileHash) {
        let others = (attempts ?? []).filter { !$0.isSameContent(as: file) }
        let old = others.filter { $0.file == file.file }.dropLast(Self.mostAttempts - 1)
        attempts = others.filter { !old.contains($0) } + [file]
    }

    /// Notes that nothing of an attempt is there.
    public mutating func failed(_ file: TakeNotes.FileHash) {
        attempts?.removeAll { $0.isSameContent(as: file) }
        if attempts?.isEmpty == true { attempts = nil }
    }

    /// Notes a file that is there.
    /// - Parameter why: why it could not be verified; nil: it was.
    public mutating func add(_ file: TakeNotes.FileHash, unverified why: String? = nil) {
        forget(file.file)
        files.append(file)
        guard let why else { return }
        var others = unverified ?? Unverified(why: why)
        others.files.append(file.file)
        unverified = others
    }

    /// Forgets a file that is not there any more.
    public mutating func forget(_ file: String) {
        files.removeAll { $0.file == file }
        attempts?.removeAll { $0.file == file }
        if attempts?.isEmpty == true { attempts = nil }
        unverified?.files.removeAll { $0 == file }
        if unverified?.files.isEmpty == true { unverified = nil }
    }

    /// Whether a file was compared with what arrived.
    public func isVerified(_ file: String) -> Bool { unverified?.files.contains(file) != true }

    /// Notes that all of the take was sent.
    /// - Parameter time: ISO 8601, UTC.
    public mutating func complete(revision: Int, at time: String) {
        self.revision = revision
        unverified?.sent = time
        completed = unverified == nil ? time : nil
    }

    /// What is sent from here on is sent to this stick. What another one has, or an unknown one, may be on this one, and does not count.
    public mutating func move(to stick: String) {
        guard stick != self.stick else { return }
        doubt()
        self.stick = stick
    }

    /// Something of the take is to be sent again.
    public mutating func reopen() {
        completed = nil
        unverified?.sent = nil
    }

    /// Nothing of it counts as arrived any more. What is there of it is still what this kit sent.
    public mutating func doubt() {
        for file in files { attempt(file) }
        (completed, revision, files, unverified, notesRevision) = (nil, nil, [], nil, nil)
    }

    /// Whether all of a take is there and verified, with this revision of its sidecar.
    public func isComplete(revision wanted: Int) -> Bool {
        completed != nil && unverified == nil && (revision ?? 0) >= wanted
    }

    /// Whether all of a take was sent, verified or not, with this revision of its sidecar.
    public func isSent(revision wanted: Int) -> Bool {
        isComplete(revision: wanted) || (unverified?.sent != nil && (revision ?? 0) >= wanted)
    }

    enum CodingKeys: String, CodingKey {
        case store, stick, completed, revision, files, attempts, unverified
        case notesRevision = "notes_revision"
    }
}
