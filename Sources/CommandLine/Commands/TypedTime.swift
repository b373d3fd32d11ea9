import Takes

extension WallTime {
    /// Reads a time that a person typed.
    /// - Parameter place: the command and the option that it was typed for.
    init(typed text: String, for place: String) throws(Failure) {
        do {
            self = try WallTime(reading: text)
        } catch {
            switch error {
            case .form:
                throw Failure(
                    exitStatus: 64,
                    "fieldfare \(place): found \(text), allowed is a date and time such as 2026-11-21T06:18:11Z")
            case .zone:
                throw Failure(
                    exitStatus: 64,
                    "fieldfare \(place): \(text): of which zone is not said: add Z for UTC, or an offset such as +01:00"
                )
            case .calendar:
                throw Failure(
                    exitStatus: 65, "fieldfare \(place): \(text): there is no such day, or no such time of day")
            }
        }
    }

    /// A day without a time means its first moment in UTC.
    init(typedDay text: String, for place: String) throws(Failure) {
        try self.init(typed: text + (TakeName.isDay(text) ? "T00:00Z" : ""), for: place)
    }
}
