import Files

/// Programs of desktop systems that open every sound card that they find.
public struct ProgramCheck {
    struct Program: Hashable {
        var processID: Int
        var name: String
    }

    var programs: [Program]

    /// Process names in the kernel: at most 15 characters.
    static let names: Set<String> = [
        "pulseaudio", "pipewire", "pipewire-pulse", "wireplumber", "pipewire-media-", "jackd", "jackdbus",
    ]

    init(programs: [Program]) {
        self.programs = programs
    }

    /// The programs that run now.
    /// - Parameter root: the folder that contains `/proc`.
    public init(root: String = "") {
        programs = SystemFile.names(in: root + "/proc").compactMap(Int.init).sorted().compactMap { processID in
            guard let name = SystemFile.firstLine("\(root)/proc/\(processID)/comm"), Self.names.contains(name)
            else { return nil }
            return Program(processID: processID, name: name)
        }
    }

    /// A warning if any such program runs.
    public var finding: Finding {
        guard !programs.isEmpty else { return .ok(.programs, "no other program that takes sound cards is running") }
        let list = programs.map { "\($0.name) (pid \($0.processID))" }.joined(separator: ", ")
        return .warning(
            .programs, "\(list) may take the card from the recorder: stop and disable what a recorder does not need",
            ["processes": .count(programs.count)])
    }
}
