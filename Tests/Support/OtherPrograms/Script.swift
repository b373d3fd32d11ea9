import Foundation

/// A program of a few lines for the shell, in the place of one that others wrote.
package enum Script {
    /// Makes the program.
    ///
    /// Another process writes it: a program that starts on another thread of this one would hold its file open for a moment, and Linux
    /// starts no program whose file is open for writing (`ETXTBSY`).
    /// - Throws: an error of Foundation; or `POSIXError`, if the file cannot be written.
    package static func write(_ lines: String, to path: String) throws {
        let shell = Process()
        shell.executableURL = URL(filePath: "/bin/sh")
        shell.arguments = ["-c", #"printf '#!/bin/sh\n%s\n' "$1" >"$0" && chmod 755 "$0""#, path, lines]
        try shell.run()
        shell.waitUntilExit()
        guard shell.terminationStatus == 0 else { throw POSIXError(.EIO) }
    }
}
