/// The files in the folder of a day, sorted by the takes that they belong to.
///
/// A later part has the kit's name and the number of its take, and another time. Two takes may have both in common: then the part itself or a
/// sidecar knows whose it is. If nothing does, it is of the last of those takes that had begun before it.
public struct TakeListing: Sendable {
    /// Each file of a take, in the order in which they were given.
    public let files: [(name: String, take: TakeName)]

    /// Finds the stems of the takes that a later part may be of: the only one, if that is known.
    /// - Parameters:
    ///   - part: the name of its file.
    ///   - stems: of the takes in the folder that have its kit's name and number.
    public typealias Owner = (_ part: String, _ stems: [String]) -> [String]

    /// Sorts the names in a folder; those of no take are left aside.
    /// - Parameter day: the name of the folder.
    public init(_ names: some Sequence<String>, day: String, owner: Owner) {
        let parsed = names.compactMap { name in TakeFileName(name).map { (name, $0) } }
        let owners = Owners(parsed.lazy.map(\.1))
        files = parsed.map { name, parsed in
            let start = owners.start(of: parsed, name, owner)
            return (name, TakeName(kit: parsed.kit, number: parsed.number, start: start, day: day))
        }
    }

    /// The files of a take, in the order in which they were given.
    public static func files(of take: TakeName, in names: some Sequence<String>, owner: Owner) -> [String] {
        let start = "\(take.kit)-\(padded(take.number, 4))"
        return TakeListing(names.filter { $0.hasPrefix(start) }, day: take.day, owner: owner).files(of: take)
    }

    /// The files of a take, in the order in which they were given.
    public func files(of take: TakeName) -> [String] {
        files.filter { $0.take == take }.map(\.name)
    }

    /// The takes of which there are files, by their names, with these files.
    public var takes: [TakeName: [String]] { Dictionary(grouping: files, by: \.take).mapValues { $0.map(\.name) } }

    /// Which takes began when, where there are later parts to be given to them.
    private struct Owners {
        private struct Key: Hashable {
            var kit: String
            var number: Int
        }

        /// In order.
        private var starts: [Key: [TakeName.Start]] = [:]
        /// Where there is no take.
        private var firstParts: [Key: TakeName.Start] = [:]

        init(_ names: some Sequence<TakeFileName>) {
            let later = names.filter(\.isLater)
            guard !later.isEmpty else { return }
            let wanted = Set(later.map { Key(kit: $0.kit, number: $0.number) })
            for name in names where !name.isLater && name.start.isDated {
                let key = Key(kit: name.kit, number: name.number)
                if wanted.contains(key) { starts[key, default: []].append(name.start) }
            }
            for (key, found) in starts { starts[key] = Set(found).sorted { $0.stamp < $1.stamp } }
            // Of a take of which only later parts are left, the first of them has to give the name.
            for (key, parts) in Dictionary(grouping: later, by: { Key(kit: $0.kit, number: $0.number) })
            where starts[key] == nil {
                firstParts[key] = parts.map(\.start).min { $0.stamp < $1.stamp }
            }
        }

        /// - Parameter file: its whole name.
        func start(of name: TakeFileName, _ file: String, _ owner: Owner) -> TakeName.Start {
            guard name.isLater else { return name.start }
            let key = Key(kit: name.kit, number: name.number)
            let starts = starts[key] ?? []
            let stems = starts.map { TakeName(kit: name.kit, number: name.number, start: $0, day: "").stem }
            let found = owner(file, stems).compactMap { TakeName(stem: $0, day: "") }
                .filter { $0.kit == name.kit && $0.number == name.number && $0.start.isDated }
                .map(\.start).sorted { $0.stamp < $1.stamp }
            if let last = found.last(where: { $0.stamp <= name.start.stamp }) ?? found.first { return last }
            return starts.isEmpty ? firstParts[key] ?? name.start : name.start
        }
    }
}
