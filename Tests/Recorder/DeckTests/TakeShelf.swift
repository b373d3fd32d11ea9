import Files
import Filters
import TakeFiles
import Takes

@testable import Deck

/// The content of a directory of takes. It uses none of the code that wrote them, only the readers of sound and
/// sidecars.
struct TakeShelf {
    let path: String
    private let files = FileSystem()

    struct Entry {
        var name: TakeName
        var files: Set<String> = []

        /// Whether it has its sidecar, and is therefore complete.
        var isFinished: Bool { files.contains(name.stem + ".json") }
        /// Whether any of its files still has a working name.
        var isUnderWay: Bool { files.contains { $0.contains(".part") } }
    }

    /// The files of every take, by number. A second take with the same number counts as a stranger, as do files of no
    /// take.
    func entries() throws -> (takes: [Int: Entry], strangers: [String]) {
        var takes: [Int: Entry] = [:]
        var strangers: [String] = []
        for day in (try? files.entries(path)) ?? [] where day != ".lock" && !day.hasPrefix(".number") {
            let names = try files.entries("\(path)/\(day)")
            let listed = TakeListing(names, day: day) { _, stems in stems }.files
            strangers += Set(names).subtracting(listed.map(\.name)).map { "\(day)/\($0)" }
            for (file, name) in listed {
                guard takes[name.number, default: Entry(name: name)].name == name else {
                    strangers.append("\(day)/\(file)")
                    continue
                }
                takes[name.number, default: Entry(name: name)].files.insert(file)
            }
        }
        return (takes, strangers)
    }

    func sidecar(of take: TakeName) throws -> Sidecar {
        let path = "\(path)/\(take.day)/\(take.stem).json"
        return try SidecarFile.sidecar(files.contents(path), path: path)
    }

    /// A hash of all bytes of a file (FNV-1a, over words).
    func fingerprint(of file: String, _ take: TakeName) throws -> UInt64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        let bytes = try files.contents("\(path)/\(take.day)/\(file)", limit: 1 << 26)
        unsafe bytes.withUnsafeBytes { bytes in
            for start in stride(from: 0, to: bytes.count & ~7, by: 8) {
                hash ^= unsafe bytes.loadUnaligned(fromByteOffset: start, as: UInt64.self)
                hash &*= 0x100_0000_01b3
            }
            for byte in unsafe bytes.suffix(bytes.count & 7) {
                hash ^= UInt64(byte)
                hash &*= 0x100_0000_01b3
            }
        }
        return hash
    }

    /// The first difference between a part's sound and the scripted card's, or nil.
    ///
    /// - Parameters:
    ///   - gaps: frames of the part that must be silent.
    ///   - isRecovered: whether the last gap may be missing from the sidecar, because it was not synced.
    func problem(
        of part: Sidecar.Part, _ take: TakeName, gaps: [Range<Int64>], isRecovered: Bool
    ) throws -> String? {
        let reader = try SoundFileReader(path: "\(path)/\(take.day)/\(part.file)")
        guard reader.frames == part.frames else { return "\(part.file): \(reader.frames) frames, not \(part.frames)" }
        let bytes = try files.contents("\(path)/\(take.day)/\(part.file)", limit: 1 << 26)
        return unsafe bytes.withUnsafeBytes { bytes in
            func sample(_ frame: Int64) -> Int {
                Int(unsafe bytes.loadUnaligned(fromByteOffset: WAVHeader.byteCount + Int(frame) * 2, as: Int16.self))
            }
            var gaps = gaps[...]
            var frame: Int64 = 0
            var expected: Int?
            while frame < part.frames {
                if let gap = gaps.first, frame >= gap.lowerBound {
                    // In silence only the first and the last frame are checked.
                    for silent in [gap.lowerBound, gap.upperBound - 1] where silent < part.frames && sample(silent) != 0
                    {
                        return "\(part.file): frame \(silent) lies in a gap and is not silent"
                    }
                    frame = gap.upperBound
                    gaps = gaps.dropFirst()
                    expected = nil
                    continue
                }
                let found = sample(frame)
                if found == 0, isRecovered {
                    frame += 1
                    expected = nil
                    continue
                }
                if let expected, found != expected {
                    return "\(part.file): frame \(frame) is \(found), not \(expected)"
                }
                // A missing or repeated frame shifts all later ones.
                let step = min(61, (gaps.first?.lowerBound ?? part.frames) - frame)
                expected = (found + Int(step)) % 30000
                frame += step
            }
            return nil
        }
    }

    func firstSample(of part: Sidecar.Part, _ take: TakeName) throws -> Int16 {
        let file = try files.open("\(path)/\(take.day)/\(part.file)")
        let bytes = try files.read(file, at: Int64(WAVHeader.byteCount), count: 2)
        return Int16(bytes[0]) | Int16(bytes[1]) << 8
    }
}
