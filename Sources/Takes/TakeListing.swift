/// The files in the folder of a day, sorted by the takes that they belong to.
///
/// Of several takes that have the kit's name and number of a later part, the last that had begun before it is the part's.
public struct TakeListing: Sendable {
    /// Each file of a take, in the order in which they were given.
    public let files: [(name: String, take: TakeName)]

    /// Sorts the names in a folder; those of no take are left aside.
    /// - Parameter day: the name of the folder.
    public init(_ names: some Sequence<String>, day: String) {
        let parsed = names.compactMap { name in TakeFileName(name).map { (name, $0) } }
        let owners = Owners(parsed.lazy.map(\.1))
        files = parsed.map { ($0, TakeName(kit: $1.kit, number: $1.number, start: owners.start(of: $1), day: day)) }
    }

    /// The files of a take, in the order in which they were given.
    public static func files(of take: TakeName, in names: some Sequence<String>) -> [String] {
        let start = "\(take.kit)-\(padded(take.number, 4))"
        return TakeListing(names.filter { $0.hasPrefix(start) }, day: take.day).files(of: take)
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

        init(_ names: some Sequence<TakeFileName>) {
            let later = names.filter(\.isLater)
            guard !later.isEmpty else { return }
            let wanted = Set(later.map { Key(kit: $0.kit, number: $0.number) })
            for name in names where !name.isLater && name.start.isDated {
                let key = Key(kit: name.kit, number: name.number)
                if wanted.contains(key) { starts[key, default: []].append(name.start) }
            }
            // Of a take of which only later parts are left, the first of them has to give the name.
            for name in later {
                let key = Key(kit: name.kit, number: name.number)
                if starts[key] == nil {
                    starts[key] = later.filter { Key(kit: $0.kit, number: $0.number) == key }.map(\.start)
                        .min { $0.stamp < $1.stamp }.map { [$0] }
                }
            }
            for key in starts.keys { starts[key]?.sort { $0.stamp < $1.stamp } }
        }

        func start(of name: TakeFileName) -> TakeName.Start {
            guard name.isLater, let starts = starts[Key(kit: name.kit, number: name.number)] else { return name.start }
            return starts.last { $0.stamp <= name.start.stamp } ?? starts.first ?? name.start
        }
    }
}
