import Control
import HTTPTypes
import Programs
import TakeFiles
import Transport

/// Has `fieldfare support` make its file, as far as the library may see the kit.
struct SupportDesk: Sendable {
    private let folder: String
    private let settingsFile: String
    private let program: String
    private let turn = Turn("support: the file is being made for another browser: try again in a minute")
    private let files = FileSystem()

    /// Some of its programs may hang; each is given up after half a minute.
    private static let patience = Duration.seconds(300)

    /// - Parameters:
    ///   - folder: where the file is made; it need not exist, and belongs to this alone.
    ///   - program: the path of `fieldfare`; nil: it lies beside this process's own program.
    init(folder: String, settingsFile: String, program: String? = nil) {
        self.folder = folder
        self.settingsFile = settingsFile
        self.program = program ?? OwnProgram.sibling("fieldfare")
    }

    /// A file that was made, open. It has no path any more.
    struct Bundle {
        var name: String
        var byteCount: Int64
        var file: OpenFile
    }

    /// Does something that one browser at a time may ask for.
    /// - Throws: `Problem`, and what the body throws.
    func one<Result>(_ body: () async throws -> Result) async throws -> Result { try await turn.take(body) }

    /// Makes the file. It waits for the programs that know the kit.
    /// - Throws: `Problem`.
    func pack() throws(Problem) -> Bundle {
        do {
            // A process that was killed may have left something in it.
            try files.makeEmptyFolder(folder)
            let output = try ProgramOutput(
                of: program, ["support", "--json", "--into", folder, "--settings", settingsFile], limit: 1 << 20,
                patience: Self.patience)
            let path = (try? JSONValue(decoding: output.bytes))?["file"]?.text ?? "\(folder)/support.tar.gz"
            let file = try files.openToRead(path, followsLink: false)
            let byteCount = try files.length(file)
            try files.remove(path)
            return Bundle(
                name: path.split(separator: "/").last.map(String.init) ?? "", byteCount: byteCount, file: file)
        } catch {
            let fact = (error as? FileError)?.fact ?? "\(error)"
            throw Problem(
                .serviceUnavailable, .io, "support: \(fact): make the file on the kit with 'sudo fieldfare support'")
        }
    }
}
