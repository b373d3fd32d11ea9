/// An entrance for foreign bytes.
protocol Surface {
    /// The name on the command line.
    static var name: String { get }

    /// - Parameter scratch: a folder in RAM for this surface alone.
    init(scratch: String) throws

    /// The source of its inputs.
    var mutator: Mutator { get }

    /// Processes an input, and checks the results against the promises.
    mutating func take(_ input: [UInt8]) throws
}

/// A promise that an input broke.
struct Broken: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

/// Throws if a promise does not hold.
func hold(_ holds: Bool, _ promise: @autoclosure () -> String) throws(Broken) {
    if !holds { throw Broken(promise()) }
}

extension String {
    /// Whether it is safe as one line of a log or a terminal: it has no control characters or line separators.
    var isOneLine: Bool {
        unicodeScalars.allSatisfy {
            switch $0.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator: false
            default: true
            }
        }
    }
}
