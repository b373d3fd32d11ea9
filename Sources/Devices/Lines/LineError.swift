import Glibc
import Takes

/// A problem with lines or LED devices, described in one sentence for all lines that share it.
public struct LineError: Error, Hashable, Sendable {
    /// The purpose of the lines, which begins the sentence.
    public enum Purpose: String, Sendable {
        case buttons, lamps, lines
    }

    public enum Problem: Hashable, Sendable {
        case noChips
        /// No chip has this name, label or path.
        case noSuchChip(String, among: [String])
        /// No readable chip has a line of this name.
        case noSuchName(among: [String])
        /// The chip has fewer lines.
        case noSuchOffset(chip: String, lineCount: Int)
        /// A chip cannot be opened or read.
        case chip(path: String, code: Int32)
        /// Another program holds the line.
        case busy(chip: String, offset: Int, holder: String)
        /// The line exists but the kernel refuses the request.
        case refused(chip: String, offset: Int, code: Int32)
        /// The poll descriptor for the lines' edges cannot be used.
        case cannotWait(code: Int32)
        /// The line disappeared while it was open, or cannot be read.
        case lost(code: Int32)
        /// The line does not accept a value.
        case cannotSet(code: Int32)
        case noSuchLED(directory: String, among: [String])
        /// A file of the LED device cannot be used.
        case led(path: String, code: Int32)
    }

    public var purpose: Purpose
    /// The lines or LED devices, as the settings name them.
    public var subjects: [String]
    /// Their indices in the list that was opened.
    public var indices: [Int]
    public var problem: Problem

    init(_ purpose: Purpose, _ problem: Problem) {
        self.purpose = purpose
        subjects = []
        indices = []
        self.problem = problem
    }

    package init(_ purpose: Purpose, _ subject: String, index: Int, _ problem: Problem) {
        self.purpose = purpose
        subjects = [subject]
        indices = [index]
        self.problem = problem
    }

    /// Merges errors with the same problem: five buttons on a missing chip become one sentence.
    static func merged(_ errors: [LineError]) -> [LineError] {
        var merged: [LineError] = []
        for error in errors {
            if let place = merged.firstIndex(where: { $0.purpose == error.purpose && $0.problem == error.problem }) {
                merged[place].subjects += error.subjects
                merged[place].indices += error.indices
            } else {
                merged.append(error)
            }
        }
        return merged
    }
}

extension LineError: CustomStringConvertible {
    /// One sentence: the purpose, the lines, the problem, and advice.
    public var description: String {
        ([purpose.rawValue] + (subjects.isEmpty ? [] : [subjects.joined(separator: ", ")]) + [sentence])
            .joined(separator: ": ")
    }

    private var sentence: String {
        switch problem {
        case .noChips:
            "this machine has no GPIO chip (nothing is named /dev/gpiochip*)"
        case .noSuchChip(let name, let chips):
            "no chip has the name, label or path \"\(name)\" (there are \(chips.joined(separator: ", ")))"
        case .noSuchName(let chips):
            "no line of that name on any chip (there are the chips \(chips.joined(separator: ", "))): "
                + "\"fieldfare lines\" lists the names"
        case .noSuchOffset(let chip, let lineCount):
            "\(chip) has only the lines 0 to \(lineCount - 1)"
        case .chip(let path, let code):
            "cannot open \(path): \(SystemError(code))" + (isDenied(code) ? ": is the user in the group gpio?" : "")
        case .busy(let chip, let offset, let holder):
            "line \(offset) of \(chip) is busy: held by \"\(holder)\""
        case .refused(let chip, let offset, let code):
            "cannot open line \(offset) of \(chip): \(SystemError(code))"
        case .cannotWait(let code):
            "cannot wait for edges: \(SystemError(code))"
        case .lost(let code):
            (code == ENODEV ? "the line went away" : "the line cannot be read")
                + ": \(SystemError(code)): it is opened again once it is back"
        case .cannotSet(let code):
            "cannot set the line: \(SystemError(code))"
        case .noSuchLED(let directory, let names):
            "no LED of that name in \(directory) "
                + (names.isEmpty ? "(there is none)" : "(there are \(names.joined(separator: ", ")))")
        case .led(let path, let code):
            "cannot use \(path): \(SystemError(code))"
                + (isDenied(code) ? ": is the user in the group gpio, and the udev rule for LEDs installed?" : "")
        }
    }
}

private func isDenied(_ code: Int32) -> Bool {
    code == EACCES || code == EPERM
}
