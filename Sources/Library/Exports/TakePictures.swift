import Takes

/// Makes pictures of takes from their sound, and keeps those that were used last in memory. Thread-safe.
///
/// A phone that zooms asks for the same pictures again and again, and each of them reads and transforms a minute of
/// sound. All takes share 16 MB, some 100 pictures of a screen.
public final class TakePictures: Sendable {
    private let cache = Locked(PictureCache(mostBytes: 16 << 20))

    public init() {}

    /// A picture that is kept in memory.
    /// - Parameter sounds: the fingerprints of all parts of the take.
    public func kept(_ query: PictureQuery, of sounds: [String]) -> TakePicture? {
        cache.withLock { $0.picture(PictureCache.Key(sounds: sounds, query: query)) }
    }

    /// Makes a picture. It reads the sound.
    /// - Parameters:
    ///   - sounds: the fingerprints of all parts of the take, or nil if they are not known. The picture is then not
    ///     kept.
    ///   - check: called before each few seconds of sound are read. Its error ends the work.
    /// - Throws: `FileError`, `SoundFileError`, `ExportError`, `SpectraError`, and the errors of `check`.
    public func make(
        _ query: PictureQuery, of sound: TakeSound, _ sounds: [String]?, check: () throws -> Void = {}
    ) throws -> TakePicture {
        let picture = try query.picture(of: sound, check: check)
        if let sounds {
            cache.withLock { $0.keep(picture, as: PictureCache.Key(sounds: sounds, query: query)) }
        }
        return picture
    }
}

/// Pictures up to a number of bytes. The one that was not used for the longest time is removed first. Pure.
struct PictureCache {
    struct Key: Hashable, Sendable {
        /// The fingerprints of the sounds.
        var sounds: [String]
        var query: PictureQuery
    }

    private struct Entry {
        var picture: TakePicture
        var use: Int
    }

    /// The memory of a picture without its values.
    private static let overhead = 512

    private let mostBytes: Int
    private var entries: [Key: Entry] = [:]
    private var uses = 0
    private(set) var byteCount = 0

    init(mostBytes: Int) { self.mostBytes = mostBytes }

    mutating func picture(_ key: Key) -> TakePicture? {
        guard let picture = entries[key]?.picture else { return nil }
        uses += 1
        entries[key]?.use = uses
        return picture
    }

    /// Keeps a picture, unless it alone is too large.
    mutating func keep(_ picture: TakePicture, as key: Key) {
        remove(key)
        let size = Self.size(of: picture)
        guard size <= mostBytes else { return }
        while byteCount + size > mostBytes, let oldest = entries.min(by: { $0.value.use < $1.value.use }) {
            remove(oldest.key)
        }
        uses += 1
        entries[key] = Entry(picture: picture, use: uses)
        byteCount += size
    }

    private mutating func remove(_ key: Key) {
        guard let entry = entries.removeValue(forKey: key) else { return }
        byteCount -= Self.size(of: entry.picture)
    }

    private static func size(of picture: TakePicture) -> Int { picture.values.count + overhead }
}
