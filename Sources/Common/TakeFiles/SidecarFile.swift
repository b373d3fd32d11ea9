import FoundationEssentials
public import Takes

/// A sidecar as bytes of JSON.
public enum SidecarFile {
    /// More than the sidecar of a take with a gap each second of a week, or with the most markers of the longest texts, whose every byte
    /// JSON may write as six.
    public static let mostBytes = 80 << 20

    /// Indented, keys in the order of the alphabet, ended by a line break. Never fails: a level that is no number
    /// (silence has none) is written as null.
    public static func bytes(_ sidecar: Sidecar) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        do {
            return try Array(encoder.encode(sidecar.finite)) + [0x0a]
        } catch {
            // Every value of a finite sidecar has a JSON form.
            preconditionFailure("sidecar of \(sidecar.take): \(error)")
        }
    }

    /// Reads a sidecar. Code that calculates with its figures may rely on `SidecarLimits`.
    /// - Throws: `SidecarError`, one sentence that names the file and what is wrong in it.
    public static func sidecar(_ bytes: [UInt8], path: String) throws(SidecarError) -> Sidecar {
        let sidecar: Sidecar
        do {
            sidecar = try JSONDecoder().decode(Sidecar.self, from: Data(bytes))
        } catch let error as DecodingError {
            throw SidecarError(path: path, problem: error.sentence)
        } catch {
            throw SidecarError(path: path, problem: "not JSON")
        }
        if let key = SidecarLimits.firstBroken(by: sidecar) {
            throw SidecarError(path: path, problem: "\(key) has a value that is not allowed")
        }
        return sidecar
    }
}

extension SidecarFile {
    /// What any version's sidecar says of itself.
    struct Stamp: Decodable {
        var take: String
        var schema: Int?
        var version: String?
    }

    /// Whether the bytes are JSON, of whatever content.
    static func isJSON(_ bytes: [UInt8]) -> Bool {
        struct Whatever: Decodable {
            init(from decoder: any Decoder) {}
        }
        return (try? JSONDecoder().decode(Whatever.self, from: Data(bytes))) != nil
    }

    /// Reads no more of a sidecar than which take it is of, and what wrote it; nil: it is no JSON, or does not have that.
    static func stamp(_ bytes: [UInt8]) -> Stamp? {
        try? JSONDecoder().decode(Stamp.self, from: Data(bytes))
    }
}

/// A file that should be a sidecar and is none.
public struct SidecarError: Error, Hashable, CustomStringConvertible {
    /// The file.
    public var path: String
    /// What is wrong in it.
    public var problem: String

    /// One sentence.
    public var description: String { "read \(path): not a sidecar: \(problem)" }
}

extension DecodingError {
    fileprivate var sentence: String {
        func place(_ context: Context, _ last: [any CodingKey] = []) -> String {
            let path = (context.codingPath + last).map { $0.intValue.map(String.init) ?? $0.stringValue }
            return path.isEmpty ? "it" : path.joined(separator: ".")
        }
        return switch self {
        case .keyNotFound(let key, let context): "\(place(context, [key])) is missing"
        case .valueNotFound(_, let context): "\(place(context)) is null"
        case .typeMismatch(_, let context): "\(place(context)) is of the wrong type"
        case .dataCorrupted(let context):
            context.codingPath.isEmpty ? "not JSON" : "\(place(context)) has a value that is not allowed"
        @unknown default: "cannot be read"
        }
    }
}

extension Sidecar {
    /// The same without infinities and NaN, for which JSON has no form.
    fileprivate var finite: Sidecar {
        var copy = self
        copy.gainDB = gainDB.finite
        copy.clockDriftPPM = clockDriftPPM.finite
        copy.durationSeconds = durationSeconds.isFinite ? durationSeconds : 0
        for index in levels.indices {
            copy.levels[index].peakDBFS = levels[index].peakDBFS.finite
            copy.levels[index].rmsDBFS = levels[index].rmsDBFS.finite
        }
        for index in filter.indices {
            copy.filter[index].lowPassHz = filter[index].lowPassHz.finite
            copy.filter[index].highPassHz = filter[index].highPassHz.finite
        }
        for index in gain.indices { copy.gain[index].gainDB = gain[index].gainDB.finite }
        for index in suspectedLosses.indices where !suspectedLosses[index].confidence.isFinite {
            copy.suspectedLosses[index].confidence = 0
        }
        return copy
    }
}

extension Double? {
    fileprivate var finite: Double? { flatMap { $0.isFinite ? $0 : nil } }
}
