import Foundation

enum Waves {
    static func sine(_ angle: Double) -> Double { sin(angle) }
}
