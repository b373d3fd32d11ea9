/// The library's own data about a take, stored in the library's file `STEM.json`.
///
/// A rebuilt catalog reads these files, so that no text of a person is lost.
public struct TakeNotes: Codable, Equatable, Sendable {
    /// 1. Readers ignore unknown keys.
    public var schema = 1
    public var take: String
    /// The permanent id of the take's kit. Nil if the take is identified by its stem, or an older version wrote the
    /// file last.
    public var kitID: KitID?
    /// The title that a person gave the take, on one line, or nil. Earlier versions know no titles, and drop one when they
    /// write the file.
    public var title: String?
    /// The text that a person wrote about the take, or null.
    @ExplicitNull public var memo: String?
    /// Texts of people in other libraries that do not fit into `memo`, or nil.
    public var otherMemos: [String]?
    /// In alphabetical order, without duplicates.
    public var tags: [String] = []
    /// Whether a person marked the take as worth keeping.
    public var starred = false
    /// People's changes to the markers, by frame.
    @EmptyIfMissing public var markers: [MarkerChange]
    /// 1, incremented with each change by a person. Nil if no person has changed the notes since an older version,
    /// which did not count.
    public var revision: Int?
    /// The exchange of these notes with the stores, or nil before the first.
    public var home: HomeNotes?
    /// The recording that the hashes and receipts belong to. In notes of earlier versions it is nil, and they belong to
    /// the recording that has the stem.
    public var recording: RecordingStart?
    /// A person's decision about the upload, or nil to upload it as soon as possible.
    public var upload: UploadChoice?
    /// The hashes of its files, by name. A finished take's files do not change, except for the peaks of a take that is
    /// continued.
    @EmptyIfMissing public var hashes: [FileHash]
    @EmptyIfMissing public var receipts: [UploadReceipt]
    /// The results of comparing its sound, by file, or nil before the comparison.
    public var sounds: [SoundNote]?

    public init(take: String) {
        self.take = take
    }

    enum CodingKeys: String, CodingKey {
        case schema, take, title, memo, tags, starred, markers, revision, home, upload, hashes, receipts, sounds
        case recording = "origin"
        case otherMemos = "other_memos"
        case kitID = "kit_id"
    }

    public enum UploadChoice: String, Codable, Sendable {
        /// It stays in the outbox, and is not sent.
        case hold
        /// It is not in the outbox.
        case never
    }

    public struct FileHash: Codable, Hashable, Sendable {
        public var file: String
        public var bytes: Int64
        /// Hexadecimal.
        public var sha256: String
        /// The modification time of the hashed file on the kit, in nanoseconds since 1970. Nil if it is unknown, or the
        /// file is a store's.
        public var modifiedNs: Int64?
        /// The store's own hash of the file when it was verified there. Nil if the store did not report one, or the
        /// file is not a store's.
        public var mark: String?

        public init(file: String, bytes: Int64, sha256: String, modifiedNs: Int64? = nil, mark: String? = nil) {
            self.file = file
            self.bytes = bytes
            self.sha256 = sha256
            self.modifiedNs = modifiedNs
            self.mark = mark
        }

        func isSameContent(as other: FileHash) -> Bool { file == other.file && sha256 == other.sha256 }

        enum CodingKeys: String, CodingKey {
            case file, bytes, sha256, mark
            case modifiedNs = "modified_ns"
        }
    }

    /// The receipt of a store, or nil.
    public subscript(receiptOf store: String) -> UploadReceipt? {
        get { receipts.first { $0.store == store } }
        set {
            receipts.removeAll { $0.store == store }
            if let newValue { receipts.append(newValue) }
        }
    }

    /// The notes for one recording, without the hashes and receipts of another recording with the same stem.
    public func of(_ recording: RecordingStart) -> TakeNotes {
        guard let known = self.recording, known != recording else { return self }
        var notes = self
        notes.attribute(to: recording)
        return notes
    }

    /// Assigns hashes and receipts to a recording, and drops those of another recording.
    public mutating func attribute(to recording: RecordingStart) {
        if let known = self.recording, known != recording {
            hashes = []
            receipts = []
            sounds = nil
            home = nil
        }
        self.recording = recording
    }

    /// Stores the hash of a file on the kit.
    public mutating func setHash(_ hash: FileHash) {
        hashes.removeAll { $0.file == hash.file }
        hashes.append(hash)
    }

    /// Whether the notes contain nothing but the identity of the take.
    public var isEmpty: Bool {
        var bare = TakeNotes(take: take)
        bare.kitID = kitID
        return self == bare
    }

    /// In bytes.
    public static let longestMemo = 4000
    /// In bytes.
    public static let longestTag = 100
    public static let mostTags = 50

    public mutating func tag(adding: [String], removing: [String]) {
        tags = Set(tags).union(adding).subtracting(removing).sorted()
    }

    /// The tag in its stored form, without surrounding spaces, or nil if the text is not a valid tag.
    public static func tag(_ text: String) -> String? {
        line(text).flatMap { $0.utf8.count <= longestTag ? $0 : nil }
    }

    /// A text on one line without surrounding spaces and control characters, or nil if it has several lines, NUL or
    /// nothing.
    static func line(_ text: some StringProtocol) -> String? {
        guard let line = trimmed(text), !line.contains(where: \.isNewline), let typed = line.typed else { return nil }
        return trimmed(String(typed.map { $0 == "\t" ? " " : $0 }))
    }

    private static func trimmed(_ text: some StringProtocol) -> String? {
        let line = text.drop(while: \.isWhitespace)
        guard let end = line.lastIndex(where: { !$0.isWhitespace }) else { return nil }
        return String(line[...end])
    }
}

/// The files of a take that a store has, verified by hash unless they are listed in `unverified`.
public struct UploadReceipt: Codable, Hashable, Sendable {
    public var store: String
    /// For a store that uses any stick: the mark of the stick. Nil for another kind of store, or if an earlier version
    /// did not note it.
    public var stick: String?
    /// When the whole take had arrived: ISO 8601, UTC; null before that.
    @ExplicitNull public var completed: String?
    /// The revision of the sidecar in the store, or null if it is not there.
    @ExplicitNull public var revision: Int?
    public var files: [TakeNotes.FileHash] = []
    /// Uploads that were started, under names that may be replaced, and never confirmed, so the store may have them.
    /// Nil means that all uploads were confirmed or failed.
    public var attempts: [TakeNotes.FileHash]?
    /// The revision of people's notes in the store. Nil if it is unknown, or nobody noted anything.
    public var notesRevision: Int?
    /// Files that were sent but could not be compared with the arrived ones, or nil if all were. While it is set,
    /// `completed` is null, so that no version of the library treats the take as safe.
    public var unverified: Unverified?

    /// Files that a store accepted without a way to verify them.
    public struct Unverified: Codable, Hashable, Sendable {
        /// The reason, in one sentence.
        public var why: String
        /// The names of the files.
        public var files: [String]
        /// When the whole take was sent: ISO 8601, UTC; nil before that.
        public var sent: String?

        public init(why: String, files: [String] = []) {
            self.why = why
            self.files = files
        }
    }

    public init(store: String) { self.store = store }

    public func sha256(of file: String) -> String? { files.first { $0.file == file }?.sha256 }

    /// The hashes of a file's unconfirmed uploads.
    public func attempts(of file: String) -> [String] { (attempts ?? []).filter { $0.file == file }.map(\.sha256) }

    /// The number of unconfirmed uploads of one file that are kept.
    private static let mostAttempts = 8

    /// Notes that the upload of a file starts.
    public mutating func attempt(_ file: TakeNotes.FileHash) {
        let others = (attempts ?? []).filter { !$0.isSameContent(as: file) }
        let old = others.filter { $0.file == file.file }.dropLast(Self.mostAttempts - 1)
        attempts = others.filter { !old.contains($0) } + [file]
    }

    /// Notes that nothing of an upload arrived.
    public mutating func failed(_ file: TakeNotes.FileHash) {
        attempts?.removeAll { $0.isSameContent(as: file) }
        if attempts?.isEmpty == true { attempts = nil }
    }

    /// Notes that a file arrived.
    /// - Parameter why: the reason why it could not be verified, or nil if it was verified.
    public mutating func add(_ file: TakeNotes.FileHash, unverified why: String? = nil) {
        forget(file.file)
        files.append(file)
        guard let why else { return }
        var others = unverified ?? Unverified(why: why)
        others.files.append(file.file)
        unverified = others
    }

    /// Forgets a file that the store no longer has.
    public mutating func forget(_ file: String) {
        files.removeAll { $0.file == file }
        attempts?.removeAll { $0.file == file }
        if attempts?.isEmpty == true { attempts = nil }
        unverified?.files.removeAll { $0 == file }
        if unverified?.files.isEmpty == true { unverified = nil }
    }

    /// Whether a file was compared with the arrived one.
    public func isVerified(_ file: String) -> Bool { unverified?.files.contains(file) != true }

    /// Notes that the whole take was sent.
    /// - Parameter time: ISO 8601, UTC.
    public mutating func complete(revision: Int, at time: String) {
        self.revision = revision
        unverified?.sent = time
        completed = unverified == nil ? time : nil
    }

    /// Sends the take to this stick from now on. Files on another or unknown stick may be on this one too, but do not
    /// count as arrived.
    public mutating func move(to stick: String) {
        guard stick != self.stick else { return }
        doubt()
        self.stick = stick
    }

    /// Marks the take for another upload.
    public mutating func reopen() {
        completed = nil
        unverified?.sent = nil
    }

    /// Treats no file as arrived any more. The files in the store may still be the ones that this kit sent, so they
    /// become attempts.
    public mutating func doubt() {
        for file in files { attempt(file) }
        (completed, revision, files, unverified, notesRevision) = (nil, nil, [], nil, nil)
    }

    /// Whether the whole take arrived and was verified, with this revision of its sidecar.
    public func isComplete(revision wanted: Int) -> Bool {
        completed != nil && unverified == nil && (revision ?? 0) >= wanted
    }

    /// Whether the whole take was sent, verified or not, with this revision of its sidecar.
    public func isSent(revision wanted: Int) -> Bool {
        isComplete(revision: wanted) || (unverified?.sent != nil && (revision ?? 0) >= wanted)
    }

    enum CodingKeys: String, CodingKey {
        case store, stick, completed, revision, files, attempts, unverified
        case notesRevision = "notes_revision"
    }
}
