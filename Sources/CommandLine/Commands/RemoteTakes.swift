import Control
import FoundationEssentials
import TakeFiles
import Takes
import Transport

/// The takes of a store. The library is asked for them.
struct RemoteTakes {
    private let client: LibraryClient
    private let store: String?

    /// On a slow link a store needs a while for one page of a list.
    private static let timeout = Duration.seconds(180)

    /// - Parameter store: its name or the beginning of its name, or nil for the only store.
    init(_ client: LibraryClient, store: String?) {
        self.client = client
        self.store = store
    }

    struct Take {
        var name: TakeName
        var files: [RemoteObject]

        var stem: String { name.stem }
        var bytes: Int64 { files.map(\.bytes).total }
        /// Whether the sidecar exists, which is uploaded last.
        var isComplete: Bool { sidecar != nil }
        var sidecar: RemoteObject? { files.first { name(of: $0) == TakeFile.sidecar(of: stem).name } }

        /// A file's name, without the folder of the day.
        func name(of file: RemoteObject) -> String { String(file.path.dropFirst(name.day.utf8.count + 1)) }
    }

    /// All takes, the newest first, and the store's name.
    func all() throws(Failure) -> (store: String, takes: [Take]) {
        var days: [String: [String: RemoteObject]] = [:]
        var name = ""
        try draw(.list(store: store)) { piece throws(Failure) in
            name = piece.store
            for object in piece.objects ?? [] {
                let parts = object.path.split(separator: "/").map(String.init)
                if parts.count == 2 { days[parts[0], default: [:]][parts[1]] = object }
            }
        }
        var takes: [Take] = []
        for (day, objects) in days {
            for (take, files) in listing(objects, day: day).takes {
                takes.append(Take(name: take, files: files.compactMap { objects[$0] }.sorted { $0.path < $1.path }))
            }
        }
        return (name, takes.sorted { ($0.name.day, $0.stem) > ($1.name.day, $1.stem) })
    }

    /// Assigns the files of a day to takes. If a later part may belong to several takes, their sidecars decide.
    private func listing(_ objects: [String: RemoteObject], day: String) -> TakeListing {
        var sounds: [String: Set<String>?] = [:]
        return TakeListing(objects.keys, day: day) { part, stems in
            guard stems.count > 1 else { return stems }
            for stem in stems where sounds[stem] == nil {
                sounds[stem] = .some(objects[TakeFile.sidecar(of: stem).name].flatMap { self.sounds(of: $0) })
            }
            let listing = stems.filter { sounds[$0]??.contains(Self.base(of: part)) == true }
            return listing.isEmpty ? stems.filter { sounds[$0] == .some(nil) } : listing
        }
    }

    /// A file's name without its extension, which a conversion changes.
    private static func base(of file: String) -> String { String(file.prefix { $0 != "." }) }

    /// The sound files in a sidecar, without their extensions, or nil if it cannot be read.
    private func sounds(of sidecar: RemoteObject) -> Set<String>? {
        var bytes: [UInt8] = []
        let hash = try? read(sidecar.path) { piece in
            if bytes.count <= SidecarFile.mostBytes { bytes += piece }
        }
        guard hash != nil else { return nil }
        return (try? SidecarFile.sidecar(bytes, path: sidecar.path)).map { Set($0.audioFiles.map(Self.base)) }
    }

    /// The files that may be deleted with the take. A later part is included only if the take's sidecar, if there is
    /// one, lists it.
    /// - Throws: `Failure`, if the sidecar cannot be read.
    func ownFiles(of take: Take) throws(Failure) -> [RemoteObject] {
        let later = take.files.filter { TakeFileName(take.name(of: $0))?.take(in: "") == nil }
        guard !later.isEmpty, let sidecar = take.sidecar else { return take.files }
        guard let sounds = sounds(of: sidecar) else {
            throw Failure(
                exitStatus: 65,
                "remote delete: \(take.stem): its sidecar cannot be read there, and says which parts are its own: "
                    + "nothing is deleted")
        }
        return take.files.filter { !later.contains($0) || sounds.contains(Self.base(of: take.name(of: $0))) }
    }

    /// The files that the kit sent to the store, from its receipts.
    /// - Parameter path: a file of the only take to include, or nil for all takes.
    func sent(_ path: String? = nil) throws(Failure) -> SentFiles {
        var sent = SentFiles()
        try draw(.sent(store: store, path: path)) { piece throws(Failure) in
            for object in piece.objects ?? [] { sent.add(object) }
        }
        return sent
    }

    /// The named takes, without duplicates.
    /// - Throws: `Failure`, if a name matches no take, or several.
    func find(_ references: [TakeReference], for command: String) throws(Failure) -> [Take] {
        let (store, takes) = try all()
        var named: [Take] = []
        for reference in references {
            let found =
                switch reference {
                case .last: Array(takes.prefix(1))
                case .stem(let stem): takes.filter { $0.stem == stem }
                case .number(let number): takes.filter { $0.name.number == number }
                }
            guard let take = found.first else {
                throw Failure(exitStatus: 66, "\(command): \(reference): \(store) has no such take")
            }
            guard found.count == 1 else {
                let stems = found.prefix(5).map { "\($0.name.day)/\($0.stem)" }.joined(separator: ", ")
                throw Failure(
                    exitStatus: 65, "\(command): \(reference): there are \(found.count): \(stems): name its stem")
            }
            if !named.contains(where: { $0.name == take.name }) { named.append(take) }
        }
        return named
    }

    /// Reads a file.
    /// - Returns: the hash of its bytes, hexadecimal.
    func read(_ path: String, _ receive: ([UInt8]) throws(Failure) -> Void) throws(Failure) -> String {
        var sha256 = ""
        try draw(.get(store: store, path: path)) { piece throws(Failure) in
            guard let data = Data(base64Encoded: piece.data ?? "") else {
                throw Failure(exitStatus: 70, "remote: \(path): the library's answer cannot be read")
            }
            try receive(Array(data))
            if let hash = piece.sha256 { sha256 = hash }
        }
        return sha256
    }

    func delete(_ path: String) throws(Failure) {
        _ = try ask(.delete(store: store, path: path))
    }

    private func draw(_ request: RemoteRequest, _ receive: (RemotePiece) throws(Failure) -> Void) throws(Failure) {
        var piece = try ask(request)
        while true {
            try receive(piece)
            guard !piece.isLast else { return }
            piece = try ask(.next)
        }
    }

    private func ask(_ request: RemoteRequest) throws(Failure) -> RemotePiece {
        do {
            return try client.ask(.remote(request), for: RemotePiece.self, timeout: Self.timeout)
        } catch {
            throw Failure(error)
        }
    }
}
