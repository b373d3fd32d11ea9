import FoundationEssentials
public import Takes

/// Encodes and decodes sidecars as JSON.
public enum SidecarFile {
    /// More than the sidecar of a take with one gap per second for a week, or with the maximum number of markers with
    /// the longest texts. JSON may need six bytes for each byte of text.
    public static let mostBytes = 80 << 20

    /// Indented, with keys in alphabetical order and a line break at the end. Never fails: a level that is not a finite
    /// number, such as that of silence, becomes null.
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
    /// - Throws: `SidecarError`, one sentence that names the file and the error in it.
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
    /// The fields that identify a sidecar of any version.
    struct Stamp: Decodable {
        var take: String
        var schema: Int?
        var version: String?
    }

    /// Whether the bytes are JSON with any content.
    static func isJSON(_ bytes: [UInt8]) -> Bool {
        struct Whatever: Decodable {
            init(from decoder: any Decoder) {}
        }
        return (try? JSONDecoder().decode(Whatever.self, from: Data(bytes))) != nil
    }

    /// Reads only the take's name and the writing version. Nil if the bytes are not JSON or lack these fields.
    static func stamp(_ bytes: [UInt8]) -> Stamp? {
        try? JSONDecoder().decode(Stamp.self, from: Data(bytes))
    }
}

/// A file that should be a sidecar but is not one.
public struct SidecarError: Error, Hashable, CustomStringConvertible {
    public var path: String
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
    /// A copy without infinities and NaN, which JSON cannot represent.
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
