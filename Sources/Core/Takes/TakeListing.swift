/// The files in the folder of a day, grouped by take.
///
/// The name of a later part has the kit and the number of its take, but another time. If two takes share kit and
/// number, the part itself or a sidecar decides. If neither does, the part belongs to the last of these takes that
/// began before it.
public struct TakeListing: Sendable {
    /// Each file of a take, in the order of the given names.
    public let files: [(name: String, take: TakeName)]

    /// Finds the stems of the takes that a later part may belong to. If the take is known, its stem is the only result.
    /// - Parameters:
    ///   - part: the name of the part's file.
    ///   - stems: the stems of the takes in the folder with the same kit and number.
    public typealias Owner = (_ part: String, _ stems: [String]) -> [String]

    /// Groups the names in a folder, and ignores other files.
    /// - Parameter day: the name of the folder.
    public init(_ names: some Sequence<String>, day: String, owner: Owner) {
        let parsed = names.compactMap { name in TakeFileName(name).map { (name, $0) } }
        let owners = Owners(parsed.lazy.map(\.1))
        files = parsed.map { name, parsed in
            let start = owners.start(of: parsed, name, owner)
            return (name, TakeName(kit: parsed.kit, number: parsed.number, start: start, day: day))
        }
    }

    /// The files of a take, in the order of the given names.
    public static func files(of take: TakeName, in names: some Sequence<String>, owner: Owner) -> [String] {
        let start = "\(take.kit)-\(padded(take.number, 4))"
        return TakeListing(names.filter { $0.hasPrefix(start) }, day: take.day, owner: owner).files(of: take)
    }

    /// The files of a take, in the order of the given names.
    public func files(of take: TakeName) -> [String] {
        files.filter { $0.take == take }.map(\.name)
    }

    /// The takes with at least one file, and the names of these files.
    public var takes: [TakeName: [String]] { Dictionary(grouping: files, by: \.take).mapValues { $0.map(\.name) } }

    /// The starts of the takes that have the same kit and number as a later part.
    private struct Owners {
        private struct Key: Hashable {
            var kit: String
            var number: Int
        }

        /// Sorted by time.
        private var starts: [Key: [TakeName.Start]] = [:]
        /// The earliest later part, if the take has no other file.
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
            // If only later parts of a take exist, the first of them names the take.
            for (key, parts) in Dictionary(grouping: later, by: { Key(kit: $0.kit, number: $0.number) })
            where starts[key] == nil {
                firstParts[key] = parts.map(\.start).min { $0.stamp < $1.stamp }
            }
        }

        /// - Parameter file: the whole file name.
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
