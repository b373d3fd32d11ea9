import Control
import Files
import HTTPTypes
import Programs
import Transport

/// Runs `fieldfare support` to make its file, with the library's rights.
struct SupportDesk: Sendable {
    private let folder: String
    private let settingsFile: String
    private let program: String
    private let turn = Turn("support: the file is being made for another browser: try again in a minute")
    private let files = FileSystem()

    /// Some of the programs that it runs may hang. Each is given up after half a minute.
    private static let patience = Duration.seconds(300)

    /// - Parameters:
    ///   - folder: the folder for the file, which need not exist. Nothing else may use it.
    ///   - program: the path of `fieldfare`; nil for the one next to this process's program.
    init(folder: String, settingsFile: String, program: String? = nil) {
        self.folder = folder
        self.settingsFile = settingsFile
        self.program = program ?? OwnProgram.sibling("fieldfare")
    }

    /// An open support file that has no path any more.
    struct Bundle {
        var name: String
        var byteCount: Int64
        var file: OpenFile
    }

    /// Runs `body` for one browser at a time.
    /// - Throws: `Problem`, and the errors of `body`.
    func one<Result>(_ body: () async throws -> Result) async throws -> Result { try await turn.take(body) }

    /// Makes the file. It waits for the programs that examine the kit.
    /// - Throws: `Problem`.
    func pack() throws(Problem) -> Bundle {
        do {
            // A killed process may have left files in the folder.
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
            let fact =
                switch error {
                case let error as FileError: error.fact
                case let error as ProgramError: "\(error.program): \(error.sentence)"
                default: "\(error)"
                }
            throw Problem(.supportFailed(fact: fact))
        }
    }
}

extension ProgramError {
    /// The problem, without the JSON that `fieldfare` writes around it.
    fileprivate var sentence: String {
        (try? JSONValue(decoding: problem.utf8))?["error"]?["message"]?.text ?? problem
    }
}
